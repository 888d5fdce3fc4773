"""Whether the cause was right and the fix good: buttons below a run that has ended."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tocsin_contracts import RunId
from tocsin_contracts.outcomes import Rateable
from tocsin_kit import logging
from tocsin_kit.clock import Clock
from tocsin_kit.outcomes import rateable
from tocsin_kit.rating import rated
from tocsin_notifier.channels.slack import blocks
from tocsin_notifier.channels.slack.blocks import Block
from tocsin_notifier.channels.slack.payloads import Payload
from tocsin_notifier.channels.slack.view import SURFACE, View
from tocsin_notifier.ports import Publisher, Runs

USEFUL, WRONG = "useful", "wrong"
THANKS = "Thank you, your rating is kept. Another click replaces it."
STRANGER = "You may not rate this: TOCSIN_SLACK_APPROVERS does not name you."
NOTHING = "There is nothing of this kind to rate any more."

_WORDS: Mapping[Rateable, Mapping[str, str]] = {
    Rateable.HYPOTHESIS: {USEFUL: "Cause was right", WRONG: "Cause was wrong"},
    Rateable.FIX: {USEFUL: "Fix was good", WRONG: "Fix was not good"},
}
_ACTION = re.compile(rf"tocsin-rate-({'|'.join(Rateable)})-({USEFUL}|{WRONG})")
_RUN = re.compile(r"[A-Za-z0-9_-]{1,64}")

log = logging.get(__name__)


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody wants to say of a run."""

    run_id: RunId
    about: Rateable
    useful: bool


def buttons(view: View) -> Iterator[Block]:
    """Yield the buttons for what can be rated, once the run has ended."""
    run = view.run
    found = [
        blocks.button(f"tocsin-rate-{about}-{how}", words, run.id)
        for about in rateable(run)
        for how, words in _WORDS[about].items()
    ]
    if found and run.state.terminal:
        yield blocks.actions(found)


def read(payload: Payload) -> Wish | None:
    """Return what a click says; None for a click on anything else."""
    if len(payload.actions) != 1:
        return None
    (action,) = payload.actions
    named, run_id = _ACTION.fullmatch(action.action_id), _RUN.fullmatch(action.value)
    if named is None or run_id is None:
        return None
    return Wish(RunId(run_id[0]), Rateable(named[1]), named[2] == USEFUL)


class Ratings:
    """Takes what people say of runs as facts. May raise TransientError."""

    def __init__(self, runs: Runs, publisher: Publisher, clock: Clock) -> None:
        self._runs = runs
        self._publisher = publisher
        self._clock = clock

    async def take(self, wish: Wish, by: str) -> str:
        """Publish what somebody says and return what they hear; `by` is empty for a stranger."""
        run = await self._runs.get(wish.run_id) if by else None
        if run is None or wish.about not in rateable(run):
            return NOTHING if by else STRANGER
        said = rated(
            run,
            wish.about,
            useful=wish.useful,
            by=by,
            surface=SURFACE,
            at=self._clock.now(),
            producer="notifier",
        )
        await self._publisher.publish(said)
        log.info("slack.rated", run_id=run.id, about=wish.about.value, by=by)
        return THANKS
