"""Composition root: the only file that knows every part of the notifier."""

from collections.abc import Sequence

from tocsin_contracts import (
    ApprovalDenied,
    ApprovalGranted,
    ApprovalRequested,
    BudgetExhausted,
    Event,
    FixIneffective,
    IncidentOpened,
    PullRequestFound,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
    RunEscalated,
    RunFinished,
    StormEnded,
    StormStarted,
)
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.notices import Notices
from tocsin_kit.parts import Parts
from tocsin_kit.service import Service
from tocsin_notifier import channels, graph
from tocsin_notifier.handlers import Handlers
from tocsin_notifier.nodes import Nodes
from tocsin_notifier.settings import Settings
from tocsin_notifier.state import NoticeState

TOLD: tuple[type[Event], ...] = (
    IncidentOpened,
    StormStarted,
    StormEnded,
    BudgetExhausted,
    ApprovalRequested,
    ApprovalGranted,
    ApprovalDenied,
    PullRequestOpened,
    PullRequestUpdated,
    PullRequestFound,
    PullRequestMerged,
    FixIneffective,
    RunEscalated,
    RunFinished,
)


def build(flags: Sequence[str] = ()) -> Service:
    """Wire the notifier from its settings."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=False)
    nodes = Nodes(
        channels.load(settings.notify_channels, settings.notify_webhook_url), Notices(parts.redis)
    )
    telling: Subgraph[NoticeState] = Subgraph(
        "notifier", graph.build(nodes), saver(parts.raw_redis)
    )
    handlers = Handlers(telling)
    for event_type in TOLD:
        parts.bus.on(event_type, handlers.tell)
    return Service(settings=settings, port=settings.notifier_port, parts=parts)
