"""Composition root: the only file that knows every part of ingest."""

from collections.abc import Sequence

from tocsin_contracts import AlertAccepted, AlertRepeated, RunFinished, RunState
from tocsin_ingest import graph, sources
from tocsin_ingest.api import Api
from tocsin_ingest.handlers import Handlers
from tocsin_ingest.nodes import Nodes
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.settings import Settings
from tocsin_ingest.state import TriageState
from tocsin_kit import intake
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.moves import move
from tocsin_kit.outbox import Outbox
from tocsin_kit.parts import Parts
from tocsin_kit.service import Service


def build(flags: Sequence[str] = ()) -> Service:
    """Wire ingest from its settings."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=True)
    outbox = Outbox(parts.redis, "ingest", intake.read, parts.bus.publish)
    records = intake.Intake(parts.redis, outbox, ttl_days=settings.run_ttl_days)
    receiver = Receiver(records, parts.runs)
    triage: Subgraph[TriageState] = Subgraph(
        "ingest", graph.build(Nodes(settings.suppress_alerts)), saver(parts.raw_redis)
    )

    handlers = Handlers(triage, receiver, parts.runs, parts.reader)
    parts.bus.on(AlertAccepted, handlers.on_alert_accepted, move(RunState.RECEIVED))
    parts.bus.on(AlertRepeated, handlers.on_alert_repeated)
    parts.bus.on(RunFinished, handlers.on_run_finished)

    api = Api(
        sources.load(),
        receiver,
        tokens=settings.ingest_tokens,
        replica_labels=frozenset(settings.replica_labels),
        max_body_bytes=settings.max_body_bytes,
    )
    return Service(
        settings=settings,
        port=settings.ingest_port,
        parts=parts,
        http=api.app(),
        background=[lambda: outbox.keep_flushing(settings.republish_seconds)],
    )
