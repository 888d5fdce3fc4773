"""Dead letters in memory, for whoever shows them or has their messages given again."""

from tocsin_contracts import RunId
from tocsin_contracts.operations import (
    DeadLetter,
    DeadLetterDiscarded,
    DeadLetterPage,
    DeadLetterReplayed,
)
from tocsin_kit.parked import NotReplayedError, UnknownLetterError
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import Outage


def letter(number: int = 7, **changes: object) -> DeadLetter:
    """Return one letter, of which a test changes what it is about."""
    fields: dict[str, object] = {
        "number": number,
        "at": NOW,
        "service": "rca",
        "run_id": RUN,
        "topic": "incident.opened.v1",
        "subject": f"tocsin.incident.opened.v1.{RUN}",
        "event_id": "e1",
        "cause": "the manifest is no YAML",
        "tries": 5,
        "ended_run": True,
        "body": '{"alert": {}}',
    }
    return DeadLetter.model_validate(fields | changes)


class FakeParked(Outage):
    """Keeps letters until they are handled, and what was done with them."""

    def __init__(self, *letters: DeadLetter, refusal: str = "") -> None:
        self.letters = {one.number: one for one in letters}
        self.refusal = refusal
        self.done: list[DeadLetterReplayed | DeadLetterDiscarded] = []

    async def newest(self, limit: int = 50, before: int = 0) -> DeadLetterPage:
        """Return the newest letters without their bodies."""
        self._answer()
        numbers = sorted((n for n in self.letters if not before or n < before), reverse=True)
        shown = (self.letters[n].model_copy(update={"body": ""}) for n in numbers[:limit])
        return DeadLetterPage(letters=tuple(shown), total=len(self.letters))

    async def get(self, number: int) -> DeadLetter | None:
        """Return a letter, or None."""
        self._answer()
        return self.letters.get(number)

    async def replay(self, number: int, by: str, reason: str = "") -> DeadLetterReplayed:
        """Take a letter out, unless its message cannot be given again."""
        if self.refusal:
            raise NotReplayedError(self.refusal)
        known = self._taken(number)
        told = DeadLetterReplayed(
            run_id=RunId(known.run_id),
            at=NOW,
            number=number,
            by=by,
            reason=reason,
            service=known.service,
            what=known.topic,
            why=known.cause,
        )
        self.done.append(told)
        return told

    async def discard(self, number: int, by: str, reason: str) -> DeadLetterDiscarded:
        """Take a letter out."""
        known = self._taken(number)
        told = DeadLetterDiscarded(
            run_id=RunId(known.run_id),
            at=NOW,
            number=number,
            by=by,
            reason=reason,
            service=known.service,
            what=known.topic,
            why=known.cause,
        )
        self.done.append(told)
        return told

    def _taken(self, number: int) -> DeadLetter:
        self._answer()
        if number not in self.letters:
            raise UnknownLetterError(f"there is no dead letter {number}")
        return self.letters.pop(number)
