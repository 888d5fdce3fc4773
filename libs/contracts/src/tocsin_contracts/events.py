"""Every event there is, in the order of a run; a new one is a line here."""

from tocsin_contracts.action import (
    FixDeployed,
    FixIneffective,
    FixVerified,
    PullRequestClosed,
    PullRequestCommented,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
)
from tocsin_contracts.alert import AlertAccepted, AlertRepeated, AlertResolved
from tocsin_contracts.approval import (
    ApprovalDenied,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    PlanStale,
)
from tocsin_contracts.budget import BudgetExhausted, BudgetExtended
from tocsin_contracts.comments import (
    ChangeProposed,
    CommentAnswered,
    CommentIgnored,
    ProposalDropped,
)
from tocsin_contracts.diagnosis import HypothesisFormed, InvestigationInconclusive
from tocsin_contracts.event import Event
from tocsin_contracts.forge import ForgeEventReceived
from tocsin_contracts.incident import (
    AlertSuppressed,
    IncidentOpened,
    RunSuperseded,
    StormEnded,
    StormStarted,
)
from tocsin_contracts.plan import (
    HypothesisRejected,
    PlanDrafted,
    PlanSuperseded,
    PullRequestFound,
    RunEscalated,
)
from tocsin_contracts.run import RunCancelRequested, RunFinished

EVENTS: tuple[type[Event], ...] = (
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    IncidentOpened,
    AlertSuppressed,
    RunSuperseded,
    StormStarted,
    StormEnded,
    HypothesisFormed,
    InvestigationInconclusive,
    BudgetExhausted,
    BudgetExtended,
    PlanDrafted,
    PlanSuperseded,
    PullRequestFound,
    HypothesisRejected,
    RunEscalated,
    ApprovalRequested,
    ApprovalReminded,
    ApprovalEscalated,
    ApprovalRecorded,
    ApprovalGranted,
    ApprovalDenied,
    ApprovalExpired,
    PlanStale,
    PullRequestOpened,
    PullRequestUpdated,
    PullRequestCommented,
    PullRequestMerged,
    PullRequestClosed,
    FixDeployed,
    FixVerified,
    FixIneffective,
    ForgeEventReceived,
    CommentAnswered,
    CommentIgnored,
    ChangeProposed,
    ProposalDropped,
    RunCancelRequested,
    RunFinished,
)

BY_TOPIC: dict[str, type[Event]] = {event.topic: event for event in EVENTS}
