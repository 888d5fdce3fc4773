"""Facts as lines of the feed; what a run is about is known from its facts that told."""

from collections import OrderedDict

from tocsin_contracts import Alert, Event, RunId
from tocsin_contracts.feed import FactView
from tocsin_gateway import telling
from tocsin_kit.feed import Fact

MOST_RUNS = 10_000


class Lines:
    """Says facts in a sentence each, and remembers the newest alert of so many runs."""

    def __init__(self, most: int = MOST_RUNS) -> None:
        self._most = most
        self._about: OrderedDict[RunId, Alert] = OrderedDict()

    def of(self, fact: Fact) -> FactView | None:
        """Return the line of a fact; None for one that cannot be read."""
        event = fact.event
        if event is None:
            return None
        alert = self._alert(event)
        return FactView(
            number=fact.number,
            id=event.id,
            topic=event.topic,
            run_id=event.run_id,
            at=event.at,
            producer=event.producer,
            state=event.state,
            severity=alert.severity if alert else None,
            title=alert.title if alert else "",
            text=telling.sentence(event),
        )

    def _alert(self, event: Event) -> Alert | None:
        told = getattr(event, "alert", None)
        if not isinstance(told, Alert):
            return self._about.get(event.run_id)
        self._about[event.run_id] = told
        self._about.move_to_end(event.run_id)
        if len(self._about) > self._most:
            self._about.popitem(last=False)
        return told
