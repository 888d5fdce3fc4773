"""The pages and what their buttons do; every decision goes the way that those of the API go."""

import json
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tocsin_contracts.roles import Role
from tocsin_contracts.views import DecisionKind
from tocsin_gateway.api import Api
from tocsin_gateway.console import exports, forms, story
from tocsin_gateway.console.desk import Desk, Listed
from tocsin_gateway.console.door import Behind, Door
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.search import LOOKED_THROUGH, PAGE, PROBLEMS, Search, page_of
from tocsin_gateway.console.sessions import Session
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.ports import Verdict
from tocsin_gateway.refusals import RefusedError


class Pages:
    """Answers each address of the console for somebody who is signed in."""

    def __init__(self, api: Api, desk: Desk, hub: Hub, renderer: Renderer) -> None:
        self._api = api
        self._desk = desk
        self._hub = hub
        self._renderer = renderer

    def routes(self, door: Door) -> list[Behind]:
        """Return its addresses."""
        one = "/runs/{run_id}"
        return [
            door.behind("/", self.inbox, Role.VIEWER),
            door.behind("/runs", self.runs, Role.VIEWER),
            door.behind("/runs.json", self.runs_json, Role.VIEWER),
            door.behind("/runs.csv", self.runs_csv, Role.VIEWER),
            door.behind(one, self.run, Role.VIEWER),
            door.behind(f"{one}/events.json", self.events, Role.VIEWER),
            door.behind(f"{one}/approve", self.approve, Role.APPROVER, "POST"),
            door.behind(f"{one}/reject", self.reject, Role.APPROVER, "POST"),
            door.behind(f"{one}/cancel", self.cancel, Role.OPERATOR, "POST"),
        ]

    async def inbox(self, request: Request, session: Session) -> Response:
        """Show what waits for a decision."""
        del request
        after = self._hub.number
        waiting = await self._desk.inbox(session.who)
        return self._renderer.page("inbox.html", session=session, waiting=waiting, after=after)

    async def runs(self, request: Request, session: Session) -> Response:
        """Show the runs that were looked for, a page of them."""
        search, after = Search.of(request.query_params), self._hub.number
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
            problems=PROBLEMS.address(),
            after=after,
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
        return await self._shown(request, session)

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
        return _back(request)

    async def _decided(self, request: Request, session: Session, answer: DecisionKind) -> Response:
        fields = await self._ours(request, session)
        granted = answer is DecisionKind.GRANTED
        try:
            reason = forms.reason(fields, needed=not granted)
            plan_hash = forms.plan_hash(fields)
            verdict = Verdict(plan_hash=plan_hash, reason=reason)
            await self._api.decide(_id(request), answer, verdict, session.who, surface="console")
        except RefusedError as error:
            return await self._refused(request, session, error)
        return _back(request)

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
        refused: str = "",
    ) -> Response:
        after = self._hub.number
        look = await self._desk.look(_id(request))
        return self._renderer.page(
            "run.html",
            session=session,
            status=status,
            look=look,
            run=look.view,
            story=story,
            done=look.said(session.who),
            refused=refused,
            after=after,
        )


def _id(request: Request) -> str:
    return str(request.path_params["run_id"])


def _back(request: Request) -> Response:
    return RedirectResponse(f"/runs/{_id(request)}", 303)
