"""Streams and consumers as data: what every service relies on and one owner creates.

Facts are refused when the stream is full (`discard: new`) so that nothing acknowledged is dropped.
Timers need message schedules, which the server refuses on such a stream: they live alone.
"""

from dataclasses import dataclass
from enum import StrEnum

from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)

from tocsin_contracts import (
    PREFIX,
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    ApprovalDenied,
    ApprovalEscalated,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    BudgetExhausted,
    BudgetExtended,
    ChangeProposed,
    CommentAnswered,
    Event,
    FixIneffective,
    ForgeEventReceived,
    HypothesisFormed,
    HypothesisRejected,
    IncidentOpened,
    InvestigationInconclusive,
    PlanDrafted,
    PlanStale,
    ProposalDropped,
    PullRequestFound,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
    RunCancelRequested,
    RunEscalated,
    RunFinished,
    RunSuperseded,
    StormEnded,
    StormStarted,
)
from tocsin_contracts.amending import AmendmentRefused, AmendmentRequested
from tocsin_contracts.chat import ChatAnswered, ChatAsked
from tocsin_contracts.operations import RunEscalationRequested
from tocsin_contracts.outcomes import Rated

FACTS = "TOCSIN"
TIMERS = "TOCSIN_TIMERS"
PARKED = "TOCSIN_PARKED"
CANARY = "TOCSIN_CANARY"

DAY = 86_400
GIB = 1024**3
MIB = 1024**2


class TimerKind(StrEnum):
    """Names of the timers; the owner of each is in CONSUMERS."""

    APPROVAL_EXPIRY = "approval-expiry"
    APPROVAL_ESCALATION = "approval-escalation"
    APPROVAL_REMINDER = "approval-reminder"
    STORM_LOOK = "storm-look"
    BUDGET_EXPIRY = "budget-expiry"
    PULL_LOOK = "pull-look"
    FIX_LOOK = "fix-look"
    QUIET_END = "quiet-end"


READS: tuple[tuple[str, type[Event]], ...] = (
    ("ingest", AlertAccepted),
    ("ingest", AlertRepeated),
    ("ingest", AlertResolved),
    ("ingest", RunFinished),
    ("rca", IncidentOpened),
    ("rca", HypothesisRejected),
    ("rca", BudgetExtended),
    ("rca", AlertRepeated),
    ("rca", RunSuperseded),
    ("rca", ForgeEventReceived),
    ("rca", ChatAsked),
    ("validation", HypothesisFormed),
    ("validation", InvestigationInconclusive),
    ("validation", PlanStale),
    ("validation", FixIneffective),
    ("validation", ChangeProposed),
    ("validation", AmendmentRequested),
    ("action", PlanDrafted),
    ("action", ApprovalRecorded),
    ("action", ApprovalGranted),
    ("action", ApprovalDenied),
    ("action", PullRequestFound),
    ("action", ForgeEventReceived),
    ("action", CommentAnswered),
    ("action", ChangeProposed),
    ("action", ApprovalRequested),
    ("action", ProposalDropped),
    ("action", AlertResolved),
    ("action", RunCancelRequested),
    ("action", RunEscalationRequested),
    ("notifier", IncidentOpened),
    ("notifier", StormStarted),
    ("notifier", StormEnded),
    ("notifier", BudgetExhausted),
    ("notifier", ApprovalRequested),
    ("notifier", ApprovalReminded),
    ("notifier", ApprovalEscalated),
    ("notifier", ApprovalRecorded),
    ("notifier", ApprovalGranted),
    ("notifier", ApprovalDenied),
    ("notifier", PullRequestOpened),
    ("notifier", PullRequestUpdated),
    ("notifier", PullRequestFound),
    ("notifier", PullRequestMerged),
    ("notifier", FixIneffective),
    ("notifier", RunEscalated),
    ("notifier", RunFinished),
    ("notifier", AlertRepeated),
    ("notifier", HypothesisFormed),
    ("notifier", PlanStale),
    ("gateway", PullRequestOpened),
    ("gateway", PullRequestMerged),
    ("gateway", FixIneffective),
    ("gateway", RunFinished),
    ("gateway", Rated),
    ("notifier", AmendmentRefused),
    ("notifier", ChatAnswered),
)

RINGS: tuple[tuple[str, TimerKind], ...] = (
    ("action", TimerKind.APPROVAL_EXPIRY),
    ("action", TimerKind.APPROVAL_ESCALATION),
    ("action", TimerKind.APPROVAL_REMINDER),
    ("action", TimerKind.PULL_LOOK),
    ("action", TimerKind.FIX_LOOK),
    ("ingest", TimerKind.STORM_LOOK),
    ("rca", TimerKind.BUDGET_EXPIRY),
    ("notifier", TimerKind.QUIET_END),
)
"""Which service wakes for which timer."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """One durable: a service's own place in a stream."""

    stream: str
    durable: str
    subject: str


def durable(service: str, event_type: type[Event]) -> str:
    """Return the durable's name, `<service>-<fact>`."""
    return f"{service}-{event_type.topic.split('.')[1]}"


def timer_durable(service: str, kind: TimerKind) -> str:
    """Return the durable's name of a timer."""
    return f"{service}-due-{kind}"


def timer_subject(stage: str, kind: TimerKind, run_id: str) -> str:
    """Return where a timer is set (`set`) or comes due (`due`)."""
    return f"{PREFIX}-timer.{stage}.{kind}.{run_id}"


CONSUMERS: tuple[Consumer, ...] = (
    *(Consumer(FACTS, durable(who, event), event.pattern()) for who, event in READS),
    *(Consumer(TIMERS, timer_durable(who, k), timer_subject("due", k, "*")) for who, k in RINGS),
)

STREAMS: tuple[StreamConfig, ...] = (
    StreamConfig(
        name=FACTS,
        subjects=[f"{PREFIX}.>"],
        storage=StorageType.FILE,
        retention=RetentionPolicy.LIMITS,
        discard=DiscardPolicy.NEW,
        max_age=30 * DAY,
        max_bytes=2 * GIB,
        duplicate_window=10 * 60,
        deny_delete=True,
        deny_purge=True,
    ),
    StreamConfig(
        name=TIMERS,
        subjects=[f"{PREFIX}-timer.>"],
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_age=30 * DAY,
        max_bytes=256 * MIB,
        duplicate_window=10 * 60,
        allow_msg_schedules=True,
    ),
    StreamConfig(
        name=PARKED,
        subjects=[f"{PREFIX}-parked.>"],
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_age=90 * DAY,
        max_bytes=256 * MIB,
        duplicate_window=10 * 60,
    ),
    StreamConfig(
        name=CANARY,
        subjects=[f"{PREFIX}-canary.>"],
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_msgs_per_subject=1,
        max_age=DAY,
        duplicate_window=2 * 60,
        max_bytes=MIB,
    ),
)


def consumer_config(consumer: Consumer, ack_wait: float) -> ConsumerConfig:
    """Return the durable's configuration; attempts are counted in the run store, not here."""
    return ConsumerConfig(
        durable_name=consumer.durable,
        filter_subject=consumer.subject,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ack_wait,
        max_deliver=-1,
        max_ack_pending=1024,
    )
