"""The services of a simulation: action as it is wired in production, the others by what they say.

Whoever finds the cause, checks it and shows it to people is reduced to its answers and its moves;
what asks, writes and follows is the real code.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

from langgraph.checkpoint.memory import InMemorySaver

from tocsin_action import app, graph
from tocsin_action.answering import Answering
from tocsin_action.asking import Asking
from tocsin_action.commenting import Comments
from tocsin_action.following import Following
from tocsin_action.freezing import Freezing
from tocsin_action.handlers import Handlers
from tocsin_action.nodes import Nodes
from tocsin_action.proving import Patience
from tocsin_action.state import ActionState
from tocsin_action.taking_over import TakingOver
from tocsin_action.unasked import Unasked
from tocsin_action.waiting import Waiting
from tocsin_action.writing import Writer
from tocsin_contracts import (
    AlertAccepted,
    ApprovalRequested,
    EndReason,
    Event,
    FixIneffective,
    HypothesisFormed,
    IncidentOpened,
    PlanDrafted,
    PlanStale,
    PullRequestMerged,
    PullRequestOpened,
    RunFinished,
    RunId,
    RunState,
)
from tocsin_kit.checkpoint_cells import strict_serializer
from tocsin_kit.graphs import Subgraph
from tocsin_kit.issues import Claim
from tocsin_kit.moves import move
from tocsin_kit.runs import RunStore
from tocsin_kit.steering import Steering
from tocsin_testing import build
from tocsin_testing.fakes import FakeTallies
from tocsin_testing.gate import FakeGate
from tocsin_testing.issues import FakeIssues
from tocsin_testing.repositories import FakeForge, FakeRepositories
from tocsin_testing.simulation import plans
from tocsin_testing.simulation.bus import SimulatedBus, Stream
from tocsin_testing.simulation.lives import Fate
from tocsin_testing.simulation.store import MemoryRuns

APPROVERS = ("ana", "bo")
PATIENCE = Patience(
    sync=timedelta(minutes=10), verify=timedelta(minutes=15), cool_down=timedelta(hours=24)
)


@dataclass
class Surroundings:
    """Everything that outlives a process: store, approvals, forge, channel and stream."""

    fate: Fate
    stream: Stream
    runs: MemoryRuns
    approvals: FakeGate
    repositories: FakeRepositories
    forge: FakeForge
    issues: FakeIssues = field(default_factory=FakeIssues)
    manifest: bytes = plans.MANIFEST
    cards: dict[RunId, tuple[int, RunState]] = field(default_factory=dict)

    def bus(self, service: str) -> SimulatedBus:
        """Return the bus of a service, whose store may fail it."""
        return SimulatedBus(self.stream, service, self.store)

    @property
    def store(self) -> RunStore:
        """The run store as services reach it."""
        return cast("RunStore", self.fate.around(self.runs))


def wire(around: Surroundings) -> None:
    """Subscribe every service."""
    _ingest(around)
    _rca(around)
    _validation(around)
    _action(around)
    _notifier(around)


def _ingest(around: Surroundings) -> None:
    async def on_alert_accepted(event: AlertAccepted) -> Event:
        await around.store.create(event)
        return IncidentOpened(run_id=event.run_id, alert=event.alert, at=around.fate.now())

    around.bus("ingest").on(AlertAccepted, on_alert_accepted, move(RunState.RECEIVED))


def _rca(around: Surroundings) -> None:
    async def on_incident_opened(event: IncidentOpened) -> Event:
        await around.fate.step("the cluster", done=True)
        return build.hypothesis_formed(
            run_id=event.run_id, alert=event.alert, at=around.fate.now(), id=""
        )

    begin = move(RunState.RECEIVED, during=RunState.INVESTIGATING)
    around.bus("rca").on(IncidentOpened, on_incident_opened, begin)


def _validation(around: Surroundings) -> None:
    issues = around.fate.around(around.issues)

    async def draft(event: HypothesisFormed | PlanStale) -> Event:
        issue = event.alert.fingerprint
        claim = Claim(event.run_id, issue)
        if await issues.claim(issue, claim) != claim or b"128Mi" not in around.manifest:
            return _ended(around, event, RunState.NO_CHANGE, EndReason.ALREADY_PROPOSED)
        base = await around.repositories.head(plans.gitops().repository(plans.REPO))
        plan = plans.drafted(event.run_id, issue, base, around.manifest)
        return PlanDrafted(
            run_id=event.run_id,
            at=around.fate.now(),
            alert=event.alert,
            hypothesis=event.hypothesis,
            plan=plan,
        )

    async def hand_over(event: FixIneffective) -> Event:
        return _ended(around, event, RunState.ESCALATED, EndReason.CHECKS_FAILED)

    bus, allowed = around.bus("validation"), move(RunState.VALIDATING)
    bus.on(FixIneffective, hand_over, allowed)
    bus.on(HypothesisFormed, draft, allowed)
    bus.on(PlanStale, draft, allowed)


def _ended(around: Surroundings, event: Event, outcome: RunState, reason: EndReason) -> Event:
    why, at = "There is nothing more to propose.", around.fate.now()
    return RunFinished(run_id=event.run_id, at=at, outcome=outcome, reason=reason, sentence=why)


@dataclass(frozen=True, slots=True)
class _Ports:
    """What action asks of the world; between any two calls of it its process may die."""

    fate: Fate
    source: FakeRepositories
    store: MemoryRuns
    records: FakeGate
    issues: FakeIssues
    timers: Stream
    forges: Any

    @classmethod
    def around(cls, all_of_it: Surroundings) -> "_Ports":
        fate = all_of_it.fate
        return cls(
            fate=fate,
            source=all_of_it.repositories,
            store=fate.around(all_of_it.runs),
            records=fate.around(all_of_it.approvals),
            issues=fate.around(all_of_it.issues),
            timers=fate.around(all_of_it.stream),
            forges={"local": fate.around(all_of_it.forge)},
        )


def _action(around: Surroundings) -> None:
    """Wire the real service, around ports that may fail it."""
    ports, service = _Ports.around(around), cast("Any", around.bus("action"))
    asking = Asking(approvers=APPROVERS, patience=timedelta(hours=4))
    records, store = ports.records, ports.store
    comments = Comments(plans.gitops(), ports.forges, ports.issues, records)
    following = _following(ports, comments)
    handlers = Handlers(
        _acting(ports, asking),
        records,
        store,
        ports.fate,
        following,
        asking=asking,
        freezing=Freezing(store),
    )
    answering = Answering(comments, records, store, following, steering=Steering(APPROVERS, ()))
    app.listen(service, handlers, following, answering, Unasked((), records, store, answering))
    app.hand_over(service, TakingOver(records, store))
    waiting = Waiting(records, store, ports.fate, asking, timers=ports.timers)
    app.wake(service, handlers, following, waiting)


def _acting(ports: _Ports, asking: Asking) -> Subgraph[ActionState]:
    nodes = Nodes(
        gitops=plans.gitops(),
        writer=Writer(ports.forges, ports.source, ports.issues),
        source=ports.source,
        approvals=ports.records,
        timers=ports.timers,
        clock=ports.fate,
        asking=asking,
        freezing=Freezing(ports.store),
    )
    return Subgraph("action", graph.build(nodes), InMemorySaver(serde=strict_serializer()))


def _following(ports: _Ports, comments: Comments) -> Following:
    return Following(
        gitops=plans.gitops(),
        source=ports.source,
        comments=comments,
        issues=ports.issues,
        runs=ports.store,
        tallies=FakeTallies(),
        timers=ports.timers,
        clock=ports.fate,
        patience=PATIENCE,
    )


TOLD: tuple[type[Event], ...] = (
    IncidentOpened,
    HypothesisFormed,
    PlanStale,
    ApprovalRequested,
    PullRequestOpened,
    PullRequestMerged,
    RunFinished,
)


def _notifier(around: Surroundings) -> None:
    store = around.fate.around(around.runs)

    async def follow(event: Event) -> None:
        run = await store.get(event.run_id)
        await around.fate.step("the channel", done=False)
        if run:
            known = around.cards.get(run.id, (0, run.state))
            around.cards[run.id] = max(known, (run.version, run.state))
        await around.fate.step("the channel", done=True)

    bus = around.bus("notifier")
    for kind in TOLD:
        bus.watch(kind, follow)
