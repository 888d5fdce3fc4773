"""Composition root: the only file that knows every part of action."""

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from tocsin_action import graph
from tocsin_action.answering import Answering
from tocsin_action.asking import Asking
from tocsin_action.assembly import watched
from tocsin_action.commenting import Comments
from tocsin_action.following import Following
from tocsin_action.freezing import Freezing
from tocsin_action.handlers import CLEARABLE, Handlers
from tocsin_action.nodes import Nodes
from tocsin_action.oncall import OnCall
from tocsin_action.ports import Deploying, Source
from tocsin_action.proving import Patience
from tocsin_action.settings import Settings
from tocsin_action.state import ActionState
from tocsin_action.taking_over import UNDECIDED, TakingOver
from tocsin_action.unasked import Unasked
from tocsin_action.waiting import Waiting
from tocsin_action.writing import Writer
from tocsin_contracts import (
    AlertResolved,
    ApprovalDenied,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalRequested,
    ChangeProposed,
    CommentAnswered,
    ForgeEventReceived,
    PlanDrafted,
    ProposalDropped,
    PullRequestFound,
    RunCancelRequested,
    RunState,
)
from tocsin_contracts.operations import RunEscalationRequested
from tocsin_gitops import config, forges, secrets
from tocsin_gitops.config import GitOps
from tocsin_gitops.repositories import repositories
from tocsin_kit import approvals
from tocsin_kit.bus import Bus
from tocsin_kit.clock import SystemClock
from tocsin_kit.freezes import Freezes
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.issues import Issues
from tocsin_kit.moves import OPEN, move
from tocsin_kit.outbox import Outbox, left_to_others
from tocsin_kit.parts import Parts
from tocsin_kit.service import Service
from tocsin_kit.steering import Steering
from tocsin_kit.tally import Tallies
from tocsin_kit.topology import TimerKind


def build(flags: Sequence[str] = ()) -> Service:
    """Wire action from its settings."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=True)
    records, issues, clock = decisions(parts), Issues(parts.redis), SystemClock()
    gitops = config.load(settings.gitops_file)
    source = repositories(gitops, os.environ, clock, fresh=True)
    hosts = forges.build(gitops, os.environ, clock)
    watching, asked = watched(settings, gitops, source), asking(settings)
    freezing = Freezing(parts.reader, Freezes(parts.bus))
    nodes = Nodes(
        gitops=gitops,
        writer=Writer(hosts, source, issues),
        source=source,
        approvals=records,
        timers=parts.bus,
        clock=clock,
        asking=asked,
        freezing=freezing,
    )
    acting: Subgraph[ActionState] = Subgraph("action", graph.build(nodes), saver(parts.raw_redis))
    comments = Comments(gitops, hosts, issues, records)
    following = follower(
        settings, parts, comments, gitops=gitops, source=source, deploying=watching.deploying
    )
    handlers = Handlers(
        acting, records, parts.reader, clock, following, asking=asked, freezing=freezing
    )
    answers = answering(settings, parts, comments, records, following)
    unasked = Unasked(gitops.auto_approve, records, parts.reader, answers)
    listen(parts.bus, handlers, following, answers, unasked)
    hand_over(parts.bus, TakingOver(records, parts.reader))
    wake(parts.bus, handlers, following, undecided(parts, records, asked))
    hidden = secrets.known(gitops, os.environ)
    return serving(settings, parts, hidden, [*watching.resources, source], watching.notice)


def follower(
    settings: Settings,
    parts: Parts,
    comments: Comments,
    *,
    gitops: GitOps,
    source: Source,
    deploying: Deploying | None,
) -> Following:
    """Return who looks after pull requests."""
    return Following(
        gitops=gitops,
        source=source,
        comments=comments,
        issues=Issues(parts.redis),
        runs=parts.reader,
        tallies=Tallies(parts.redis),
        timers=parts.bus,
        clock=SystemClock(),
        patience=patience(settings),
        deploying=deploying,
    )


def undecided(parts: Parts, records: approvals.Approvals, asked: Asking) -> Waiting:
    """Return who looks at approvals that wait."""
    return Waiting(records, parts.reader, SystemClock(), asked, timers=parts.bus)


def serving(
    settings: Settings,
    parts: Parts,
    hidden: Collection[str],
    resources: Sequence[AbstractAsyncContextManager[Any]],
    notice: Callable[[], str] | None,
) -> Service:
    """Return the process: its port, what is open while it runs, and what no log line shows."""
    return Service(
        settings=settings,
        port=settings.action_port,
        parts=parts,
        resources=resources,
        secrets=hidden,
        notice=notice,
    )


def answering(
    settings: Settings,
    parts: Parts,
    comments: Comments,
    records: approvals.Approvals,
    following: Following,
) -> Answering:
    """Return who answers comments."""
    heard = Steering(settings.approvers, settings.own_accounts)
    return Answering(
        comments, records, parts.reader, following, steering=heard, console=settings.public_url
    )


def decisions(parts: Parts) -> approvals.Approvals:
    """Return the records of approvals. What a rule decides, gateway and notifier tell of."""
    outbox = Outbox(parts.redis, approvals.OWNER, approvals.read, left_to_others)
    return approvals.Approvals(parts.redis, outbox)


def listen(
    bus: Bus, handlers: Handlers, following: Following, answering: Answering, unasked: Unasked
) -> None:
    """Subscribe."""
    waiting, applying = RunState.AWAITING_APPROVAL, RunState.APPLYING
    bus.on(PlanDrafted, handlers.on_plan_drafted, move(RunState.VALIDATING))
    writing = replace(move(waiting, during=applying), stoppable=False)  # half a write helps nobody
    bus.on(ApprovalGranted, handlers.on_approval_granted, writing)
    bus.on(ApprovalDenied, handlers.on_approval_denied, move(waiting))
    bus.on(PullRequestFound, following.on_pull_request_found, move(RunState.PR_OPEN))
    bus.watch(ForgeEventReceived, following.on_forge_event)
    bus.on(CommentAnswered, answering.on_comment_answered, OPEN)
    bus.on(ApprovalRequested, unasked.on_approval_requested, OPEN)
    bus.on(ProposalDropped, answering.on_proposal_dropped, OPEN)
    bus.on(ChangeProposed, answering.on_change_proposed, OPEN)
    bus.on(AlertResolved, handlers.on_alert_resolved, move(*CLEARABLE))
    bus.on(RunCancelRequested, handlers.on_run_cancel_requested, OPEN)


def hand_over(bus: Bus, taking_over: TakingOver) -> None:
    """Subscribe to people who take runs over."""
    undecided = replace(move(*UNDECIDED), stoppable=False)
    bus.on(RunEscalationRequested, taking_over.on_run_escalation_requested, undecided)


def wake(bus: Bus, handlers: Handlers, following: Following, waiting: Waiting) -> None:
    """Subscribe to what is to be seen while nobody has decided, and to what comes due."""
    undecided = move(RunState.AWAITING_APPROVAL)
    bus.on(ApprovalRecorded, waiting.on_approval_recorded, undecided)
    bus.on_timer(TimerKind.APPROVAL_REMINDER, waiting.on_half_time, undecided)
    bus.on_timer(TimerKind.APPROVAL_ESCALATION, waiting.on_escalation, undecided)
    bus.on_timer(TimerKind.APPROVAL_EXPIRY, handlers.on_approval_due, undecided)
    bus.on_timer(TimerKind.PULL_LOOK, following.on_pull_look, OPEN)
    bus.on_timer(TimerKind.FIX_LOOK, following.on_fix_look, OPEN)


def asking(settings: Settings) -> Asking:
    """Return whom decisions are asked of, and what makes a yes whole."""
    return Asking(
        approvers=settings.approvers,
        patience=timedelta(hours=settings.approval_hours),
        tiers=settings.quorum,
        self_approval=settings.self_approval,
        groups=settings.approver_groups,
        escalation=timedelta(minutes=settings.escalation_minutes),
        accounts=settings.forge_accounts,
        breakers=settings.break_glass,
        codeowners=settings.codeowners,
        owners={owner.lower(): people for owner, people in settings.owners.items()},
        on_call=OnCall(settings.oncall_file, settings.approvers).person,
    )


def patience(settings: Settings) -> Patience:
    """Return how long the fix of a pull request is watched, and how long a no holds."""
    return Patience(
        sync=timedelta(minutes=settings.sync_minutes),
        verify=timedelta(minutes=settings.verify_minutes),
        cool_down=timedelta(hours=settings.cool_down_hours),
    )
