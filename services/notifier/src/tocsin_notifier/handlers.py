"""Where events meet the notifier's graph."""

from tocsin_contracts import Event
from tocsin_kit.errors import PermanentError
from tocsin_kit.graphs import Subgraph
from tocsin_notifier.state import NoticeState


class Handlers:
    """Every event that people should hear of is told in the same way."""

    def __init__(self, graph: Subgraph[NoticeState]) -> None:
        self._graph = graph

    async def tell(self, event: Event) -> None:
        """Tell people about the event, once per channel; what a channel refused is parked."""
        state = await self._graph.run(event.run_id, event.id, {"event": event})
        if state["failed"]:
            raise PermanentError("; ".join(state["failed"]))
