"""Where a message goes, and when: routes, quiet hours, and everybody who heard how it began."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tocsin_contracts import Event
from tocsin_kit.clock import Clock
from tocsin_kit.notices import Told
from tocsin_kit.run_view import Run
from tocsin_notifier.rules.quiet import Quiet
from tocsin_notifier.rules.routes import About, Route, about, chosen
from tocsin_notifier.rules.standing import Standing, standing


@dataclass(frozen=True, slots=True)
class Addressed:
    """The channels that show a message now, and those that hold it until quiet hours end."""

    now: tuple[str, ...]
    held: tuple[str, ...] = ()
    until: datetime | None = None


class Addressing:
    """Decides by the rules. `usual` are the channels of what no route matches."""

    def __init__(
        self,
        usual: Sequence[str],
        clock: Clock,
        routes: Sequence[Route] = (),
        quiet: Quiet | None = None,
    ) -> None:
        self._usual = tuple(usual)
        self._routes = tuple(routes)
        self._quiet = quiet
        self._clock = clock
        routed = [name for route in routes for name in route.to]
        self._known = tuple(dict.fromkeys([*self._usual, *routed]))

    def of(self, event: Event, run: Run | None, told: Told) -> Addressed:
        """Return where the message of an event goes; channels that have shown it are left out."""
        whose = standing(event, run)
        to = [name for name in self._to(event, whose, told) if not told.has(name, event.id)]
        until = self._quiet.waits(event, whose, self._clock.now()) if self._quiet else None
        if self._quiet is None or until is None:
            return Addressed(tuple(to))
        held = [name for name in to if self._quiet.keeps(name)]
        now = [name for name in to if name not in held]
        return Addressed(tuple(now), tuple(held), until)

    def _to(self, event: Event, whose: Standing, told: Told) -> tuple[str, ...]:
        what = about(event)
        to = chosen(self._routes, what, whose, self._usual)
        if what is not About.ENDED:
            return to
        heard = told.heard()
        return (*to, *(name for name in self._known if name in heard and name not in to))


@dataclass(frozen=True, slots=True)
class Overdue:
    """A message that quiet hours have held, and the channels that still have to show it."""

    event: Event
    channels: tuple[str, ...]


def overdue(run: Run, told: Told) -> tuple[Overdue, ...]:
    """Return what is to be told when quiet hours end: on each channel the newest that was held.

    A channel that has shown anything newer meanwhile has nothing to catch up with.
    """
    facts = sorted(run.facts.values(), key=lambda fact: fact.at)
    waiting: dict[str, list[str]] = {}
    for channel, messages in told.held().items():
        known = [f.id for f in facts if f.id in messages or told.has(channel, f.id)]
        if known and known[-1] in messages:
            waiting.setdefault(known[-1], []).append(channel)
    return tuple(Overdue(f, tuple(waiting[f.id])) for f in facts if f.id in waiting)
