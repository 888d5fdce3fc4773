"""Which service may publish which facts: what each makes itself, and what it tells for others."""

from collections.abc import Mapping
from enum import StrEnum

from tocsin_contracts import (
    EVENTS,
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    AlertSuppressed,
    ApprovalDenied,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    BudgetExhausted,
    BudgetExtended,
    ChangeProposed,
    CommentAnswered,
    CommentIgnored,
    Event,
    FixDeployed,
    FixIneffective,
    FixVerified,
    ForgeEventReceived,
    HypothesisFormed,
    HypothesisRejected,
    IncidentOpened,
    InvestigationInconclusive,
    PlanDrafted,
    PlanStale,
    PlanSuperseded,
    ProposalDropped,
    PullRequestClosed,
    PullRequestCommented,
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
from tocsin_contracts.configuring import ConfigChanged
from tocsin_contracts.operations import (
    DeadLetterDiscarded,
    DeadLetterReplayed,
    RunEscalationRequested,
    RunRerun,
)
from tocsin_contracts.outcomes import Rated


class Identity(StrEnum):
    """Who connects to bus and store. The owner makes streams, rebuilds and examines."""

    INGEST = "ingest"
    RCA = "rca"
    VALIDATION = "validation"
    ACTION = "action"
    NOTIFIER = "notifier"
    GATEWAY = "gateway"
    OWNER = "owner"
    DASHBOARD = "dashboard"


SERVICES = (
    Identity.INGEST,
    Identity.RCA,
    Identity.VALIDATION,
    Identity.ACTION,
    Identity.NOTIFIER,
    Identity.GATEWAY,
)

_INGEST: frozenset[type[Event]] = frozenset(
    {
        AlertAccepted,
        AlertRepeated,
        AlertResolved,
        AlertSuppressed,
        ForgeEventReceived,
        IncidentOpened,
        RunFinished,
        RunSuperseded,
        StormEnded,
        StormStarted,
    }
)
_RCA: frozenset[type[Event]] = frozenset(
    {
        AlertAccepted,
        AlertRepeated,
        BudgetExhausted,
        BudgetExtended,
        ChangeProposed,
        ChatAnswered,
        CommentAnswered,
        CommentIgnored,
        HypothesisFormed,
        InvestigationInconclusive,
        RunFinished,
    }
)
_VALIDATION: frozenset[type[Event]] = frozenset(
    {
        AmendmentRefused,
        HypothesisRejected,
        PlanDrafted,
        PlanSuperseded,
        ProposalDropped,
        PullRequestFound,
        RunEscalated,
        RunFinished,
        RunSuperseded,
    }
)
_ACTION: frozenset[type[Event]] = frozenset(
    {
        ApprovalEscalated,
        ApprovalExpired,
        ApprovalReminded,
        ApprovalRequested,
        FixDeployed,
        FixIneffective,
        FixVerified,
        PlanStale,
        ProposalDropped,
        PullRequestClosed,
        PullRequestCommented,
        PullRequestMerged,
        PullRequestOpened,
        PullRequestUpdated,
        RunEscalated,
        RunFinished,
    }
)
_DECISIONS: frozenset[type[Event]] = frozenset({ApprovalDenied, ApprovalGranted, ApprovalRecorded})
_GATEWAY: frozenset[type[Event]] = _DECISIONS | {
    AlertAccepted,
    AlertRepeated,
    AmendmentRequested,
    BudgetExtended,
    ChatAsked,
    ConfigChanged,
    DeadLetterDiscarded,
    DeadLetterReplayed,
    Rated,
    RunCancelRequested,
    RunEscalationRequested,
    RunRerun,
}

SEALED: frozenset[type[Event]] = _ACTION - _INGEST - _RCA - _VALIDATION
"""What action alone says, of the requests for approvals and of the changes that it wrote."""

REPLAYED: frozenset[type[Event]] = frozenset(EVENTS) - SEALED
"""What may be given again from a dead letter: it is the gateway that says it then."""

MAKES: Mapping[Identity, frozenset[type[Event]]] = {
    Identity.INGEST: _INGEST,
    Identity.RCA: _RCA,
    Identity.VALIDATION: _VALIDATION,
    Identity.ACTION: _ACTION,
    Identity.NOTIFIER: _DECISIONS | {ChatAsked, Rated},
    Identity.GATEWAY: _GATEWAY,
}
"""What each service says of its own."""

PUBLISHES: Mapping[Identity, frozenset[type[Event]]] = {
    **MAKES,
    Identity.GATEWAY: _GATEWAY | REPLAYED,
    Identity.OWNER: frozenset(EVENTS),
    Identity.DASHBOARD: frozenset(),
}
