"""The pages for whoever keeps Tocsin running: how its parts are, and what was given up."""

from typing import Protocol

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tocsin_contracts.operations import (
    DeadLetter,
    DeadLetterDiscarded,
    DeadLetterPage,
    DeadLetterReplayed,
)
from tocsin_contracts.roles import Role
from tocsin_contracts.status import Condition, ConsumerView, StatusView
from tocsin_gateway.console import forms
from tocsin_gateway.console.door import Behind, Door
from tocsin_gateway.console.rendering import Renderer
from tocsin_gateway.console.sessions import Session
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.parked import NotReplayedError, UnknownLetterError

MOST_SHOWN = 50
MOST_DIGITS = 15


class Statuses(Protocol):
    """Looks at everything; what does not answer is unknown."""

    async def look(self) -> StatusView:
        """Return how everything is."""


class Letters(Protocol):
    """The dead letters of every service."""

    async def newest(self, limit: int = 50, before: int = 0) -> DeadLetterPage:
        """Return the newest letters without their bodies, and how many there are."""

    async def get(self, number: int) -> DeadLetter | None:
        """Return a letter with its body, or None."""

    async def replay(self, number: int, by: str, reason: str = "") -> DeadLetterReplayed:
        """Have the message given again; UnknownLetterError, or NotReplayedError with why not."""

    async def discard(self, number: int, by: str, reason: str) -> DeadLetterDiscarded:
        """Remove a letter for good; UnknownLetterError if there is none."""


class Operating:
    """Shows services and dead letters, and does to a letter what somebody asks for."""

    def __init__(self, statuses: Statuses, letters: Letters, renderer: Renderer) -> None:
        self._statuses = statuses
        self._letters = letters
        self._renderer = renderer

    def routes(self, door: Door) -> list[Behind]:
        """Return its addresses."""
        one = "/dead-letters/{number}"
        return [
            door.behind("/services", self.services, Role.VIEWER),
            door.behind("/dead-letters", self.letters, Role.VIEWER),
            door.behind(one, self.letter, Role.VIEWER),
            door.behind(f"{one}/replay", self.replay, Role.OPERATOR, "POST"),
            door.behind(f"{one}/discard", self.discard, Role.OPERATOR, "POST"),
        ]

    async def services(self, request: Request, session: Session) -> Response:
        """Show how every part is."""
        del request
        seen = await self._statuses.look()
        places = [place for service in seen.services for place in service.consumers]
        busy = [place for place in places if not _idle(place)]
        idle = [place for place in places if _idle(place)]
        return self._renderer.page(
            "services.html", session=session, seen=seen, busy=busy, idle=idle
        )

    async def letters(self, request: Request, session: Session) -> Response:
        """Show the newest letters, or those before one."""
        given = request.query_params.get("before", "")
        page = await self._letters.newest(MOST_SHOWN, _number(given) if given else 0)
        return self._renderer.page(
            "letters.html", session=session, page=page, older=len(page.letters) == MOST_SHOWN
        )

    async def letter(self, request: Request, session: Session) -> Response:
        """Show one letter with what is in it."""
        return await self._shown(request, session)

    async def replay(self, request: Request, session: Session) -> Response:
        """Have its message given again."""
        fields = await forms.read(request)
        forms.check(fields, session.csrf)
        try:
            await self._letters.replay(_asked(request), session.who, forms.reason(fields))
        except NotReplayedError as error:
            return await self._shown(request, session, 409, refused=str(error))
        except UnknownLetterError as error:
            raise _gone(error) from error
        return RedirectResponse("/dead-letters", 303)

    async def discard(self, request: Request, session: Session) -> Response:
        """Throw it away; that needs a reason."""
        fields = await forms.read(request)
        forms.check(fields, session.csrf)
        try:
            reason = forms.reason(fields, needed=True)
            await self._letters.discard(_asked(request), session.who, reason)
        except RefusedError as error:
            return await self._shown(request, session, error.status, refused=error.view.error)
        except UnknownLetterError as error:
            raise _gone(error) from error
        return RedirectResponse("/dead-letters", 303)

    async def _shown(
        self, request: Request, session: Session, status: int = 200, *, refused: str = ""
    ) -> Response:
        number = _asked(request)
        letter = await self._letters.get(number)
        if letter is None:
            raise _gone(f"there is no dead letter {number}; it may be handled already")
        return self._renderer.page(
            "letter.html", session=session, status=status, letter=letter, refused=refused
        )


def _idle(place: ConsumerView) -> bool:
    """Whether it is known that nothing waits there and nothing went wrong."""
    healthy = place.condition is Condition.HEALTHY
    return healthy and (place.lag, place.ack_pending, place.redelivered) == (0, 0, 0)


def _asked(request: Request) -> int:
    return _number(str(request.path_params["number"]))


def _number(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) <= MOST_DIGITS):
        raise RefusedError(404, f"no dead letter {given!r}", "letters have numbers")
    return int(given)


def _gone(why: object) -> RefusedError:
    return RefusedError(404, str(why), "the list shows those that there are; Audit says who did it")
