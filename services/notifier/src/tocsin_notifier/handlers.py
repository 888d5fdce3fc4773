"""Where events meet the notifier's graph, and the messages that change after they were shown."""

from collections.abc import Sequence

from tocsin_contracts import Event
from tocsin_kit import logging
from tocsin_kit.errors import PermanentError
from tocsin_kit.graphs import Subgraph
from tocsin_kit.timers import Timer
from tocsin_notifier.addressing import overdue
from tocsin_notifier.ports import Follower, Notices, Runs
from tocsin_notifier.state import NoticeState

log = logging.get(__name__)


class Handlers:
    """Every event that people should hear of is told in the same way."""

    def __init__(
        self,
        graph: Subgraph[NoticeState],
        runs: Runs,
        notices: Notices,
        followers: Sequence[Follower] = (),
    ) -> None:
        self._graph = graph
        self._runs = runs
        self._notices = notices
        self._followers = followers

    async def tell(self, event: Event) -> None:
        """Tell people about the event, once per channel; what a channel refused is parked."""
        state = await self._graph.run(event.run_id, event.id, {"event": event})
        if "title" not in state or state["held"]:
            await self.follow(event)
        if state["failed"]:
            raise PermanentError("; ".join(state["failed"]))

    async def wake(self, timer: Timer) -> None:
        """Tell what quiet hours have held of a run: on each channel the newest, and that once."""
        run = await self._runs.get(timer.run_id)
        if run is None:
            log.warning("notifier.held_run_forgotten", run_id=timer.run_id)
            return
        failed: list[str] = []
        for late in overdue(run, await self._notices.of(timer.run_id)):
            start: NoticeState = {"event": late.event, "to": list(late.channels)}
            attempt = f"{timer.id}.{late.event.id}"
            failed += (await self._graph.run(timer.run_id, attempt, start))["failed"]
        if failed:
            raise PermanentError("; ".join(failed))

    async def follow(self, event: Event) -> None:
        """Show what the event changed, where people see it already; nobody is told of it."""
        for follower in self._followers:
            await follower.follow(event)
