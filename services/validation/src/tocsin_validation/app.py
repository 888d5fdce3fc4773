"""Composition root: the only file that knows every part of validation."""

import os
from collections.abc import Sequence
from datetime import timedelta

from tocsin_cluster import connecting
from tocsin_cluster.clusters import OneCluster, UnseenCluster
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.port import Clusters
from tocsin_contracts import (
    ChangeProposed,
    FixIneffective,
    HypothesisFormed,
    InvestigationInconclusive,
    PlanStale,
    RunState,
    TieAnswer,
    TieAsked,
)
from tocsin_contracts.amending import AmendmentRequested
from tocsin_gitops import config, secrets
from tocsin_gitops.repositories import repositories
from tocsin_kit import approvals, logging
from tocsin_kit.asking import ask
from tocsin_kit.bus import Bus
from tocsin_kit.clock import SystemClock
from tocsin_kit.freezes import Freezes
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.issues import Issues
from tocsin_kit.moves import move
from tocsin_kit.outbox import Outbox, left_to_others
from tocsin_kit.parts import Parts
from tocsin_kit.service import Service
from tocsin_mcp.servers import Servers
from tocsin_validation import checks, graph
from tocsin_validation.assembly import Outside, assembled
from tocsin_validation.converging import Rules
from tocsin_validation.handlers import Handlers
from tocsin_validation.nodes import Nodes
from tocsin_validation.settings import Settings
from tocsin_validation.state import ValidationState
from tocsin_validation.surroundings import charting
from tocsin_validation.surroundings.surveyor import Means

TIE_SECONDS = 30.0

log = logging.get(__name__)


def build(flags: Sequence[str] = ()) -> Service:
    """Wire validation from its settings."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=True)
    gitops = config.load(settings.gitops_file)
    config.refuse_missing(gitops)
    servers = connecting.servers(settings)
    clock = SystemClock()
    source = repositories(gitops, os.environ, clock)
    outside = Outside(
        gitops=gitops,
        source=source,
        clusters=clusters(settings, servers),
        issues=Issues(parts.redis),
        runs=parts.reader,
        approvals=decisions(parts),
        clock=clock,
        rules=rules(settings),
        console=settings.public_url,
        ties=AskedTies(parts.bus),
        owners=settings.codeowners,
    )

    def run_in(nodes: Nodes) -> Subgraph[ValidationState]:
        return Subgraph("validation", graph.build(nodes), saver(parts.raw_redis))

    handlers = assembled(outside, checks.load(), run_in, means(settings, parts))
    listen(parts.bus, handlers)
    return Service(
        settings=settings,
        port=settings.validation_port,
        parts=parts,
        resources=[servers, source],
        secrets=secrets.known(gitops, os.environ),
        notice=lambda: connecting.notice(servers),
    )


def means(settings: Settings, parts: Parts) -> Means:
    """Return what is looked around with."""
    return Means(
        parts.reader,
        Freezes(parts.bus),
        SystemClock(),
        settings.rules,
        helm=charting.found(settings.helm_binary),
        seconds=settings.look_seconds,
    )


def decisions(parts: Parts) -> approvals.Approvals:
    """Return the records of approvals, which validation only reads."""
    outbox = Outbox(parts.redis, approvals.OWNER, approvals.read, left_to_others)
    return approvals.Approvals(parts.redis, outbox)


class AskedTies:
    """Asks rca, which has a model or not."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def ask(self, asked: TieAsked) -> TieAnswer | None:
        """Return what rca says; None without a model, without an answer, or too late."""
        return await ask(self._bus, asked.subject, asked, TieAnswer, TIE_SECONDS)


def listen(bus: Bus, handlers: Handlers) -> None:
    """Subscribe."""
    allowed = move(RunState.VALIDATING)
    bus.on(HypothesisFormed, handlers.on_hypothesis_formed, allowed)
    bus.on(InvestigationInconclusive, handlers.on_inconclusive, allowed)
    bus.on(PlanStale, handlers.on_plan_stale, allowed)
    bus.on(FixIneffective, handlers.on_fix_ineffective, allowed)
    amending = move(RunState.PR_OPEN, during=RunState.VALIDATING)
    bus.on(ChangeProposed, handlers.on_change_proposed, amending)
    revaluing = move(RunState.AWAITING_APPROVAL, during=RunState.VALIDATING)
    bus.on(AmendmentRequested, handlers.on_amendment_requested, revaluing)


def clusters(settings: Settings, servers: Servers) -> Clusters:
    """Return the clusters that can be looked at; a recording that is not there cannot be."""
    try:
        return connecting.clusters(settings, servers)
    except ClusterError as error:
        log.warning("cluster.not_seen", why=str(error))
        return OneCluster(UnseenCluster("no cluster is connected"))


def rules(settings: Settings) -> Rules:
    """Return how long a merged fix is watched, and how long a person's no holds."""
    return Rules(
        verify=timedelta(minutes=settings.verify_minutes),
        cool_down=timedelta(hours=settings.cool_down_hours),
    )
