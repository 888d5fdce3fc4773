"""The pages and what their buttons do; every decision goes the way that those of the API go."""

import json
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_gateway.api import Api
from tocsin_gateway.console import exports, forms, story
from tocsin_gateway.console.desk import Desk, Listed
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.search import LOOKED_THROUGH, PAGE, Search, page_of
from tocsin_gateway.console.sessions import Session
from tocsin_gateway.live import sse
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.ports import Verdict
from tocsin_gateway.refusals import RefusedError

DONE = {
    "approved": "You approved this plan. The change is made next; this page says how it went.",
    "recorded": "You said yes. It takes more people: the plan still waits for them.",
    "rejected": "You rejected this plan.",
    "cancelled": "You asked the run to stop. It ends within seconds.",
}
"""What was just done, by the word in the address: no other text gets on the page that way."""


class Pages:
    """Answers each address of the console for somebody who is signed in."""

    def __init__(self, api: Api, desk: Desk, hub: Hub, renderer: Renderer) -> None:
        self._api = api
        self._desk = desk
        self._hub = hub
        self._renderer = renderer

    async def inbox(self, request: Request, session: Session) -> Response:
        """Show what waits for a decision."""
        del request
        waiting = await self._desk.inbox(session.who)
        return self._renderer.page("inbox.html", session=session, waiting=waiting)

    async def runs(self, request: Request, session: Session) -> Response:
        """Show the runs that were looked for, a page of them."""
        search = Search.of(request.query_params)
        runs = await self._listed(search)
        found = search.found(runs)
        pages = max(1, -(-len(found) // PAGE))
        page = min(page_of(request.query_params), pages)
        return self._renderer.page(
            "runs.html",
            session=session,
            search=search,
            facets=search.facets(runs),
            found=found[(page - 1) * PAGE : page * PAGE],
            total=len(found),
            looked=len(runs),
            page=page,
            pages=pages,
        )

    async def runs_json(self, request: Request, session: Session) -> Response:
        """Return all that were looked for, for a program."""
        del session
        search = Search.of(request.query_params)
        return exports.as_json(search.found(await self._listed(search)))

    async def runs_csv(self, request: Request, session: Session) -> Response:
        """Return all that were looked for, for a spreadsheet."""
        del session
        search = Search.of(request.query_params)
        return exports.as_csv(search.found(await self._listed(search)))

    async def run(self, request: Request, session: Session) -> Response:
        """Show one run."""
        done = DONE.get(request.query_params.get("done", ""), "")
        return await self._shown(request, session, done=done)

    async def events(self, request: Request, session: Session) -> Response:
        """Return the facts of one run as they are stored."""
        del session
        look = await self._desk.look(request.path_params["run_id"])
        facts = [fact.model_dump(mode="json") | {"topic": fact.topic} for fact in look.events]
        text = json.dumps(facts, indent=2, ensure_ascii=True)
        return Response(text, media_type="application/json")

    async def approve(self, request: Request, session: Session) -> Response:
        """Say yes to exactly the plan that was on the page."""
        return await self._decided(request, session, DecisionKind.GRANTED)

    async def reject(self, request: Request, session: Session) -> Response:
        """Say no to exactly the plan that was on the page, and why."""
        return await self._decided(request, session, DecisionKind.DENIED)

    async def cancel(self, request: Request, session: Session) -> Response:
        """Stop a run."""
        fields = await self._ours(request, session)
        try:
            await self._api.cancel(_id(request), forms.reason(fields), session.who)
        except RefusedError as error:
            return await self._refused(request, session, error)
        return _back(request, "cancelled")

    async def stream(self, request: Request, session: Session) -> Response:
        """Tell the page's script what happens."""
        del session
        wanted = sse.Wanted(run=request.query_params.get("run", ""))
        return sse.stream(self._hub, wanted, request.headers.get("last-event-id", ""))

    async def _decided(self, request: Request, session: Session, answer: DecisionKind) -> Response:
        fields = await self._ours(request, session)
        granted = answer is DecisionKind.GRANTED
        try:
            reason = forms.reason(fields, needed=not granted)
            plan_hash = forms.plan_hash(fields)
            verdict = Verdict(plan_hash=plan_hash, reason=reason)
            taken = await self._api.decide(
                _id(request), answer, verdict, session.who, surface="console"
            )
        except RefusedError as error:
            return await self._refused(request, session, error)
        waits = taken.decision.value == ApprovalState.PENDING.value
        return _back(request, "recorded" if waits else "approved" if granted else "rejected")

    async def _listed(self, search: Search) -> Sequence[Listed]:
        return await self._desk.listed(LOOKED_THROUGH, search.only_state)

    async def _ours(self, request: Request, session: Session) -> dict[str, str]:
        fields = await forms.read(request)
        forms.check(fields, session.csrf)
        return fields

    async def _refused(self, request: Request, session: Session, error: RefusedError) -> Response:
        """Show the run as it stands now, and why nothing was done."""
        said = f"{error.view.error}; {error.view.hint}"
        return await self._shown(request, session, error.status, refused=said)

    async def _shown(
        self,
        request: Request,
        session: Session,
        status: int = 200,
        *,
        done: str = "",
        refused: str = "",
    ) -> Response:
        look = await self._desk.look(_id(request))
        return self._renderer.page(
            "run.html",
            session=session,
            status=status,
            look=look,
            run=look.view,
            story=story,
            done=done,
            refused=refused,
        )


def _id(request: Request) -> str:
    return str(request.path_params["run_id"])


def _back(request: Request, done: str) -> Response:
    return RedirectResponse(f"/runs/{_id(request)}?done={done}", 303)
