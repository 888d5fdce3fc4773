"""Composition root: the only file that knows every part of action."""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from tocsin_action import graph
from tocsin_action.handlers import CLEARABLE, Handlers
from tocsin_action.nodes import Nodes
from tocsin_action.settings import Settings
from tocsin_action.state import ActionState
from tocsin_contracts import (
    AlertResolved,
    ApprovalDenied,
    ApprovalGranted,
    PlanDrafted,
    RunCancelRequested,
    RunState,
)
from tocsin_gitops import config, forges
from tocsin_gitops.source import LocalGitSource
from tocsin_kit import approvals
from tocsin_kit.clock import SystemClock
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.moves import OPEN, move
from tocsin_kit.outbox import Outbox
from tocsin_kit.parts import Parts
from tocsin_kit.service import Service
from tocsin_kit.topology import TimerKind


def build(flags: Sequence[str] = ()) -> Service:
    """Wire action from its settings."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=True)
    outbox = Outbox(parts.redis, approvals.OWNER, approvals.read, parts.bus.publish)
    records = approvals.Approvals(parts.redis, outbox)
    gitops = config.load(settings.gitops_file)
    nodes = Nodes(
        gitops=gitops,
        forges=forges.build(gitops, os.environ, SystemClock()),
        source=LocalGitSource(),
        approvals=records,
        timers=parts.bus,
        clock=SystemClock(),
        approvers=settings.approvers,
        patience=timedelta(hours=settings.approval_hours),
    )
    acting: Subgraph[ActionState] = Subgraph("action", graph.build(nodes), saver(parts.raw_redis))

    handlers = Handlers(acting, records, parts.reader, SystemClock())
    waiting, applying = RunState.AWAITING_APPROVAL, RunState.APPLYING
    bus = parts.bus
    bus.on(PlanDrafted, handlers.on_plan_drafted, move(RunState.VALIDATING))
    writing = replace(move(waiting, during=applying), stoppable=False)  # half a write helps nobody
    bus.on(ApprovalGranted, handlers.on_approval_granted, writing)
    bus.on(ApprovalDenied, handlers.on_approval_denied, move(waiting))
    bus.on(AlertResolved, handlers.on_alert_resolved, move(*CLEARABLE))
    bus.on(RunCancelRequested, handlers.on_run_cancel_requested, OPEN)
    bus.on_timer(TimerKind.APPROVAL_EXPIRY, handlers.on_approval_due, move(waiting))
    return Service(settings=settings, port=settings.action_port, parts=parts)
