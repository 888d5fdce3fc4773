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
from tocsin_contracts.amending import AmendmentRefused, AmendmentRequested
from tocsin_contracts.approval import (
    ApprovalDenied,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    PlanStale,
    PlanSuperseded,
)
from tocsin_contracts.budget import BudgetExhausted, BudgetExtended
from tocsin_contracts.chat import ChatAnswered, ChatAsked
from tocsin_contracts.comments import (
    ChangeProposed,
    CommentAnswered,
    CommentIgnored,
    ProposalDropped,
)
from tocsin_contracts.configuring import ConfigChanged
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
from tocsin_contracts.operations import (
    DeadLetterDiscarded,
    DeadLetterReplayed,
    RunEscalationRequested,
    RunRerun,
)
from tocsin_contracts.outcomes import Rated
from tocsin_contracts.plan import (
    HypothesisRejected,
    PlanDrafted,
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
    AmendmentRequested,
    AmendmentRefused,
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
    RunEscalationRequested,
    RunRerun,
    DeadLetterReplayed,
    DeadLetterDiscarded,
    RunFinished,
    ChatAsked,
    ChatAnswered,
    Rated,
    ConfigChanged,
)

BY_TOPIC: dict[str, type[Event]] = {event.topic: event for event in EVENTS}
