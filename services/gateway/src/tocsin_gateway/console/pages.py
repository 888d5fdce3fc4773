"""The pages about runs: what waits, which there are, and one with all that is known about it."""

import json
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from tocsin_contracts.roles import Role
from tocsin_gateway.console import exports, story
from tocsin_gateway.console.acting import Outcomes
from tocsin_gateway.console.desk import Desk, Listed
from tocsin_gateway.console.door import Behind, Door
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.search import LOOKED_THROUGH, PAGE, PROBLEMS, Search, page_of
from tocsin_gateway.console.sessions import Session
from tocsin_gateway.live.hub import Hub


class Pages:
    """Answers each address of the console for somebody who is signed in."""

    def __init__(self, desk: Desk, outcomes: Outcomes, hub: Hub, renderer: Renderer) -> None:
        self._outcomes = outcomes
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
        return await self.shown(request, session)

    async def events(self, request: Request, session: Session) -> Response:
        """Return the facts of one run as they are stored."""
        del session
        look = await self._desk.look(request.path_params["run_id"])
        facts = [fact.model_dump(mode="json") | {"topic": fact.topic} for fact in look.events]
        text = json.dumps(facts, indent=2, ensure_ascii=True)
        return Response(text, media_type="application/json")

    async def _listed(self, search: Search) -> Sequence[Listed]:
        return await self._desk.listed(LOOKED_THROUGH, search.only_state)

    async def shown(
        self,
        request: Request,
        session: Session,
        status: int = 200,
        *,
        refused: str = "",
        done: str = "",
    ) -> Response:
        """Show one run as it stands now; `refused` says why nothing was done, `done` what was."""
        after = self._hub.number
        look = await self._desk.look(_id(request))
        said = await self._outcomes.ratings(look.run.id)
        return self._renderer.page(
            "run.html",
            session=session,
            status=status,
            look=look,
            run=look.view,
            story=story,
            done=done or look.said(session.who),
            ratings=said.ratings,
            refused=refused,
            after=after,
        )


def _id(request: Request) -> str:
    return str(request.path_params["run_id"])
