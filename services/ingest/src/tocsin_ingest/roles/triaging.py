"""The triaging part: what events tell goes through the triage graph."""

from tocsin_contracts import AlertAccepted, AlertRepeated, RunFinished, RunState
from tocsin_ingest import graph
from tocsin_ingest.handlers import Handlers
from tocsin_ingest.nodes import Nodes
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.settings import Settings
from tocsin_ingest.state import TriageState
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.moves import move
from tocsin_kit.parts import Parts


def subscribe(settings: Settings, parts: Parts, receiver: Receiver) -> None:
    """Let the bus call the handlers."""
    triage: Subgraph[TriageState] = Subgraph(
        "ingest", graph.build(Nodes(settings.suppress_alerts)), saver(parts.raw_redis)
    )
    handlers = Handlers(triage, receiver, parts.runs, parts.reader)
    parts.bus.on(AlertAccepted, handlers.on_alert_accepted, move(RunState.RECEIVED))
    parts.bus.on(AlertRepeated, handlers.on_alert_repeated)
    parts.bus.on(RunFinished, handlers.on_run_finished)
