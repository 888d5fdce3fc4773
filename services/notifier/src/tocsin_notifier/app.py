"""Composition root: the only file that knows every part of the notifier."""

from collections.abc import Sequence
from importlib import import_module

from tocsin_contracts import (
    AlertRepeated,
    ApprovalDenied,
    ApprovalEscalated,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    BudgetExhausted,
    Event,
    FixIneffective,
    HypothesisFormed,
    IncidentOpened,
    PlanStale,
    PullRequestFound,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
    RunEscalated,
    RunFinished,
    StormEnded,
    StormStarted,
)
from tocsin_contracts.amending import AmendmentRefused
from tocsin_contracts.chat import ChatAnswered
from tocsin_kit.clock import SystemClock
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.moves import ANY
from tocsin_kit.notices import Notices
from tocsin_kit.parts import Parts
from tocsin_kit.service import Service
from tocsin_kit.topology import TimerKind
from tocsin_notifier import channels, graph
from tocsin_notifier.addressing import Addressing
from tocsin_notifier.handlers import Handlers
from tocsin_notifier.nodes import Nodes
from tocsin_notifier.ports import Channel, TwoWay
from tocsin_notifier.settings import Settings
from tocsin_notifier.state import NoticeState

TOLD: tuple[type[Event], ...] = (
    IncidentOpened,
    StormStarted,
    StormEnded,
    BudgetExhausted,
    ApprovalRequested,
    ApprovalReminded,
    ApprovalEscalated,
    ApprovalRecorded,
    ApprovalGranted,
    ApprovalDenied,
    AmendmentRefused,
    PullRequestOpened,
    PullRequestUpdated,
    PullRequestFound,
    PullRequestMerged,
    FixIneffective,
    RunEscalated,
    RunFinished,
)


FOLLOWED: tuple[type[Event], ...] = (AlertRepeated, HypothesisFormed, PlanStale)
"""Nobody is told of these, but a message that is on show already changes with them."""

ASSEMBLY = "tocsin_notifier.assembly"
"""Slack's client, which costs a start about a quarter of a second, is behind it."""


def build(flags: Sequence[str] = ()) -> Service:
    """Wire the notifier from its settings."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=False)
    slack = _slack(settings, parts)
    channel = slack.channel if slack else None
    shown = channels.load(settings, channel)
    notices = Notices(parts.redis)
    handlers = Handlers(
        _telling(settings, parts, shown, notices),
        parts.reader,
        notices,
        [channel] if channel else [],
    )
    for event_type in TOLD:
        parts.bus.on(event_type, handlers.tell)
    for event_type in FOLLOWED:
        parts.bus.watch(event_type, handlers.follow)
    parts.bus.watch(ChatAnswered, slack.answered if slack else _nobody_asked)
    parts.bus.on_timer(TimerKind.QUIET_END, handlers.wake, ANY)
    return Service(
        settings=settings,
        port=settings.notifier_port,
        parts=parts,
        http=slack.http if slack else None,
        background=slack.background if slack else (),
        resources=slack.resources if slack else (),
    )


def _telling(
    settings: Settings, parts: Parts, shown: Sequence[Channel], notices: Notices
) -> Subgraph[NoticeState]:
    rules = settings.notify
    nodes = Nodes(
        shown,
        Addressing(settings.notify_channels, SystemClock(), rules.routes, rules.quiet),
        runs=parts.reader,
        notices=notices,
        timers=parts.bus,
        public_url=settings.public_url,
    )
    return Subgraph("notifier", graph.build(nodes), saver(parts.raw_redis), graph.steps(len(shown)))


async def _nobody_asked(event: ChatAnswered) -> None:
    """Tell nobody: without Slack nobody asks here."""
    del event


def _slack(settings: Settings, parts: Parts) -> TwoWay | None:
    """Wire Slack if it is wanted; its library is not even loaded otherwise."""
    if settings.slack_bot_token is None:
        return None
    wired: TwoWay = import_module(ASSEMBLY).slack(settings, parts)
    return wired
