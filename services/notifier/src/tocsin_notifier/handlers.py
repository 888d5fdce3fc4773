"""Where events meet the notifier's graph, and the messages that change after they were shown."""

from collections.abc import Sequence

from tocsin_contracts import Event
from tocsin_kit.errors import PermanentError
from tocsin_kit.graphs import Subgraph
from tocsin_notifier.ports import Follower
from tocsin_notifier.state import NoticeState


class Handlers:
    """Every event that people should hear of is told in the same way."""

    def __init__(self, graph: Subgraph[NoticeState], followers: Sequence[Follower] = ()) -> None:
        self._graph = graph
        self._followers = followers

    async def tell(self, event: Event) -> None:
        """Tell people about the event, once per channel; what a channel refused is parked."""
        state = await self._graph.run(event.run_id, event.id, {"event": event})
        if "title" not in state:
            await self.follow(event)
        if state["failed"]:
            raise PermanentError("; ".join(state["failed"]))

    async def follow(self, event: Event) -> None:
        """Show what the event changed, where people see it already; nobody is told of it."""
        for follower in self._followers:
            await follower.follow(event)
