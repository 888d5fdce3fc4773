"""The triaging part: what events tell goes through the triage graph."""

from tocsin_contracts import AlertAccepted, AlertRepeated, AlertResolved, RunFinished, RunState
from tocsin_contracts.freezes import FreezeAnswer, FreezeAsked
from tocsin_ingest import graph
from tocsin_ingest.handlers import Handlers
from tocsin_ingest.judge import Judge
from tocsin_ingest.nodes import Nodes
from tocsin_ingest.ports import Crowd
from tocsin_ingest.receiver import Receiver
from tocsin_ingest.remote_silences import AlertmanagerSilences
from tocsin_ingest.settings import Settings
from tocsin_ingest.state import TriageState
from tocsin_ingest.triage.windows import freeze_of
from tocsin_kit.asking import Answering
from tocsin_kit.bus import Bus
from tocsin_kit.clock import SystemClock
from tocsin_kit.freezes import SECONDS
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.joined import Joined
from tocsin_kit.moves import ANY, move
from tocsin_kit.open_runs import OpenRuns
from tocsin_kit.parts import Parts
from tocsin_kit.storms import Storms
from tocsin_kit.tally import Tallies
from tocsin_kit.tickets import Tickets
from tocsin_kit.topology import TimerKind


def freezes(settings: Settings, bus: Bus) -> Answering[FreezeAsked, FreezeAnswer]:
    """Return who says whether changes have to wait, by the windows as they are configured."""
    clock, windows = SystemClock(), settings.triage.freezes

    async def answer(asked: FreezeAsked) -> FreezeAnswer:
        return FreezeAnswer(freeze=freeze_of(windows, asked.alert, clock.now()))

    return Answering(bus, FreezeAsked.subject, FreezeAsked, answer, seconds=SECONDS)


def subscribe(settings: Settings, parts: Parts, receiver: Receiver) -> None:
    """Let the bus call the handlers."""
    url, token, rules = settings.alertmanager_url, settings.alertmanager_token, settings.triage
    remote = AlertmanagerSilences(url, token) if url else None
    judge = Judge(settings.suppress_alerts, rules, remote)
    storm = rules.storm
    crowd = Crowd(
        reader=parts.reader,
        open_runs=OpenRuns(parts.redis),
        storms=Storms(parts.redis, window_seconds=storm.window_seconds, threshold=storm.new_runs),
        tickets=Tickets(parts.redis, storm.investigations),
        joined=Joined(parts.redis),
        tallies=Tallies(parts.redis),
        timers=parts.bus,
        publisher=parts.bus,
    )
    triage: Subgraph[TriageState] = Subgraph(
        "ingest", graph.build(Nodes(judge, rules, crowd)), saver(parts.raw_redis)
    )
    handlers = Handlers(triage, receiver, parts.runs, judge=judge, rules=rules, crowd=crowd)
    parts.bus.on(AlertAccepted, handlers.on_alert_accepted, move(RunState.RECEIVED))
    parts.bus.on(AlertRepeated, handlers.on_alert_repeated)
    parts.bus.on(AlertResolved, handlers.on_alert_resolved)
    parts.bus.on(RunFinished, handlers.on_run_finished)
    parts.bus.on_timer(TimerKind.STORM_LOOK, handlers.on_storm_due, ANY)
