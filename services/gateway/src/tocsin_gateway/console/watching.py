"""The page of what happens now, and the stream that tells pages when to look again."""

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from tocsin_contracts import EVENTS, Severity
from tocsin_contracts.roles import Role
from tocsin_gateway.console.door import Behind, Door
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.search import known
from tocsin_gateway.console.sessions import Session
from tocsin_gateway.live import sse
from tocsin_gateway.live.hub import Hub

MOST_SHOWN = 200
LONGEST = 200
AREAS = tuple(dict.fromkeys(f"{event.topic.partition('.')[0]}." for event in EVENTS))
"""What topics begin with, in the order of a run."""


class Watching:
    """Shows the newest lines of the feed, and streams what comes."""

    def __init__(self, hub: Hub, renderer: Renderer) -> None:
        self._hub = hub
        self._renderer = renderer

    def routes(self, door: Door) -> list[Behind]:
        """Return its addresses."""
        return [
            door.behind("/events", self.stream, Role.VIEWER),
            door.behind("/feed", self.page, Role.VIEWER),
        ]

    async def page(self, request: Request, session: Session) -> Response:
        """Show the newest lines that are wanted."""
        wanted, after = _wanted(request.query_params), self._hub.number
        remembered = self._hub.remembered
        return self._renderer.page(
            "live.html",
            session=session,
            wanted=wanted,
            lines=[line for line in remembered if wanted.has(line)][:MOST_SHOWN],
            looked=len(remembered),
            read=self._hub.reads,
            areas=AREAS,
            severities=tuple(Severity),
            after=after,
        )

    async def stream(self, request: Request, session: Session) -> Response:
        """Tell the script of a page what happens, after the number that the page knows."""
        query = request.query_params
        after = request.headers.get("last-event-id", query.get("after", ""))
        return sse.stream(self._hub, _wanted(query), after, who=session.who)


def _wanted(query: QueryParams) -> sse.Wanted:
    return sse.Wanted(
        run=query.get("run", "").strip()[:LONGEST],
        severity=known(Severity, "severity", query.getlist("severity")),
        topic=tuple(one[:LONGEST] for one in query.getlist("topic") if one),
    )
