"""The pages of the books: who did what, and what it cost."""

from dataclasses import asdict
from datetime import timedelta
from decimal import Decimal

from starlette.requests import Request
from starlette.responses import Response

from tocsin_contracts.roles import Role
from tocsin_gateway.console import exports
from tocsin_gateway.console.acting import Outcomes
from tocsin_gateway.console.audit import Deed, Wanted
from tocsin_gateway.console.books import Books
from tocsin_gateway.console.door import Behind, Door
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.sessions import Session
from tocsin_gateway.live.hub import Hub
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.clock import Clock, SystemClock

MOST_SHOWN = 200
SPANS = (7, 30)
"""Days that the costs are shown of; the stream keeps no more."""


class Ledgers:
    """Shows what was read of the stream, and says so while that is not all of it."""

    def __init__(
        self,
        books: Books,
        outcomes: Outcomes,
        hub: Hub,
        renderer: Renderer,
        clock: Clock | None = None,
    ) -> None:
        self._books = books
        self._outcomes = outcomes
        self._hub = hub
        self._renderer = renderer
        self._clock = clock or SystemClock()

    def routes(self, door: Door) -> list[Behind]:
        """Return its addresses."""
        return [
            door.behind("/audit", self.audit, Role.VIEWER),
            door.behind("/audit.json", self.audit_json, Role.VIEWER),
            door.behind("/audit.csv", self.audit_csv, Role.VIEWER),
            door.behind("/cost", self.cost, Role.VIEWER),
        ]

    async def audit(self, request: Request, session: Session) -> Response:
        """Show what people did."""
        after, wanted = self._hub.number, Wanted.of(request.query_params)
        entries = self._books.entries
        found = wanted.found(entries)
        return self._renderer.page(
            "audit.html",
            session=session,
            wanted=wanted,
            entries=found[:MOST_SHOWN],
            total=len(found),
            looked=len(entries),
            whole=self._books.whole,
            deeds=tuple(Deed),
            after=after,
        )

    async def audit_json(self, request: Request, session: Session) -> Response:
        """Return all that were looked for, for a program."""
        del session
        return exports.json_file("entries", self._rows(request), "audit.json")

    async def audit_csv(self, request: Request, session: Session) -> Response:
        """Return all that were looked for, for a spreadsheet."""
        del session
        return exports.csv_file(exports.AUDITED, self._rows(request), "audit.csv")

    async def cost(self, request: Request, session: Session) -> Response:
        """Show what models cost, and what became of the runs."""
        after, span = self._hub.number, _span(request)
        outcomes = await self._outcomes.view(span)
        today = self._clock.now().date()
        since = today - timedelta(days=span - 1)
        days = self._books.costs.days(today, span)
        return self._renderer.page(
            "cost.html",
            session=session,
            span=span,
            spans=SPANS,
            days=days,
            most=max((spent.money for _, spent in days), default=Decimal(0)),
            models=self._books.costs.models(since),
            sources=self._books.costs.sources(since),
            whole=self._books.whole,
            outcomes=outcomes,
            after=after,
        )

    def _rows(self, request: Request) -> list[dict[str, object]]:
        if not self._books.whole:
            raise RefusedError(
                503, "the stream is not read to its end yet", "try again in a few seconds"
            )
        found = Wanted.of(request.query_params).found(self._books.entries)
        return [asdict(one) | {"at": one.at.isoformat()} for one in found]


def _span(request: Request) -> int:
    given = request.query_params.get("days", str(SPANS[0]))
    if given not in map(str, SPANS):
        raise RefusedError(422, f"no such number of days: {given!r}", "it is 7 or 30")
    return int(given)
