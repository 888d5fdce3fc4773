"""Composition root: the only file that knows every part of rca."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from tocsin_agents.budget import Budget
from tocsin_agents.loop.engine import Engine
from tocsin_agents.models import roles
from tocsin_agents.models.roles import ModelRole
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import Mode
from tocsin_cluster import connecting
from tocsin_cluster.fleet import Fleet
from tocsin_contracts import (
    OPEN_STATES,
    AlertRepeated,
    BudgetExtended,
    ForgeEventReceived,
    HypothesisRejected,
    IncidentOpened,
    RunState,
    RunSuperseded,
    TieAnswer,
    TieAsked,
)
from tocsin_contracts.chat import ChatAsked
from tocsin_gitops import config
from tocsin_gitops.repositories import Repositories, repositories
from tocsin_kit.answered import Answered
from tocsin_kit.asking import Answering
from tocsin_kit.bus import Bus
from tocsin_kit.clock import SystemClock
from tocsin_kit.graphs import Subgraph, saver
from tocsin_kit.late_news import LateNews
from tocsin_kit.live_settings import LiveSettings
from tocsin_kit.moves import move
from tocsin_kit.parts import Parts
from tocsin_kit.recordings import Recordings, Transcripts
from tocsin_kit.runs_about import RunsAbout
from tocsin_kit.service import Service
from tocsin_kit.steering import Steering
from tocsin_kit.topology import TimerKind
from tocsin_mcp.servers import Servers
from tocsin_rca import analyzers, assembly, graph, tools
from tocsin_rca.assembly import Equipment
from tocsin_rca.collectors.history import GitHistory
from tocsin_rca.discussion import choosing
from tocsin_rca.discussion.answering import CommentHandlers
from tocsin_rca.discussion.choosing import Chooser
from tocsin_rca.discussion.talker import Talker
from tocsin_rca.handlers import BudgetHandlers, Handlers, Listeners
from tocsin_rca.investigation.broadcasting import Broadcasting, Listening
from tocsin_rca.investigation.further import Further
from tocsin_rca.investigation.investigator import Investigator
from tocsin_rca.investigation.ports import Runs
from tocsin_rca.investigation.scenes import Living
from tocsin_rca.nodes import Nodes
from tocsin_rca.ports import Runbooks, World
from tocsin_rca.settings import Settings
from tocsin_rca.sources.knowledge import KnowledgeFolder
from tocsin_rca.sources.pages import RunbookPages
from tocsin_rca.sources.past_runs import PastRuns
from tocsin_rca.state import RcaState
from tocsin_rca.tools import outside


def build(flags: Sequence[str] = ()) -> Service:
    """Wire rca from its settings."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=True)
    servers = connecting.servers(settings)
    news = LateNews(parts.redis)
    about = RunsAbout(parts.redis, settings.run_ttl_days)
    past = PastRuns(parts.reader, about, SystemClock())
    source = reading(settings)
    seen = replace(world(settings, servers, source), past=past)
    box = assembly.toolbox(settings, seen, servers, source, past)
    with_ = assembly.equipment(settings, parts, box)
    thinking = _thinking(settings, parts, seen, with_)
    further = _further(settings, parts, seen, thinking) if thinking else None
    asking = _asking(settings, parts, seen, news)
    handlers = Handlers(asking, settings.max_rca_attempts, further)
    listen(parts.bus, parts.reader, handlers, Listeners(news), stoppable=further is None)
    comments = _comments(settings, parts, thinking)
    parts.bus.on(ForgeEventReceived, comments.on_forge_event, move(*OPEN_STATES))
    parts.bus.watch(ChatAsked, assembly.chat(settings, parts, seen, with_).on_chat_asked)
    return Service(
        settings=settings,
        port=settings.rca_port,
        parts=parts,
        resources=[
            servers,
            source,
            *_ties(settings, parts, thinking),
            *assembly.desk(settings, parts, seen, box),
        ],
        secrets=box.secrets,
        notice=lambda: connecting.notice(servers),
    )


def _asking(settings: Settings, parts: Parts, seen: World, news: LateNews) -> Subgraph[RcaState]:
    """Return what asks the analyzers, within a budget that may be changed meanwhile."""

    def budget() -> Budget:
        now = parts.live.now
        calls = now.investigation_calls or settings.investigation_calls
        seconds = now.investigation_seconds or settings.investigation_seconds
        return Budget(calls, seconds, time.monotonic)

    days = settings.record_days
    recordings = Recordings(parts.raw_redis, days) if days else None
    nodes = Nodes(seen, analyzers.load(), budget, news, recordings)
    return Subgraph("rca", graph.build(nodes), saver(parts.raw_redis))


def listen(
    bus: Bus, runs: Runs, handlers: Handlers, listeners: Listeners, *, stoppable: bool
) -> None:
    """Subscribe. What looks for a wish to stop by itself keeps what it has until then."""
    budgets = BudgetHandlers(handlers, runs)
    working = replace(move(RunState.INVESTIGATING), stoppable=stoppable)
    begin = move(RunState.RECEIVED, during=RunState.INVESTIGATING)
    bus.on(IncidentOpened, handlers.on_incident_opened, replace(begin, stoppable=stoppable))
    bus.on(HypothesisRejected, handlers.on_hypothesis_rejected, working)
    bus.on(BudgetExtended, budgets.on_budget_extended, working)
    bus.on_timer(TimerKind.BUDGET_EXPIRY, budgets.on_budget_due, working)
    bus.watch(AlertRepeated, listeners.on_alert_repeated)
    bus.watch(RunSuperseded, listeners.on_run_superseded)


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model is asked through, whatever it is asked."""

    engine: Engine
    scenes: Living
    kept: BaseCheckpointSaver[Any]
    listening: Listening


def _thinking(
    settings: Settings, parts: Parts, seen: World, with_: Equipment | None
) -> Thinking | None:
    """Return what a model is asked through about alerts; None if no model is set for that."""
    model = roles.model(settings, ModelRole.RCA)
    if model is None or with_ is None:
        return None
    equipped = with_

    def catalogue(fleet: Fleet) -> Catalogue:
        return tools.catalogue(equipped.toolsets(fleet), Mode.ASK, equipped.redactor)

    days = settings.record_days
    transcripts = Transcripts(parts.raw_redis, days) if days else None
    below = tuple(name for name, one in settings.external_agents.items() if one.sub_agent)
    scenes = Living(
        model,
        seen,
        catalogue,
        settings.investigation_limits,
        transcripts,
        below,
        settings.cluster_instructions,
    )
    broadcasting = Broadcasting(parts.bus, equipped.redactor, seen.clock)
    return Thinking(equipped.engine, scenes, equipped.kept, broadcasting.of)


def _further(settings: Settings, parts: Parts, seen: World, thinking: Thinking) -> Further:
    """Return what looks further where no analyzer is sure."""
    investigator = Investigator(thinking.engine, thinking.scenes, thinking.kept, thinking.listening)
    patience = timedelta(minutes=settings.budget_minutes)
    return Further(investigator, parts.reader, parts.bus, seen.clock, patience=patience)


def _comments(settings: Settings, parts: Parts, thinking: Thinking | None) -> CommentHandlers:
    """Return who answers comments; what is said there is no part of an attempt's transcript."""
    talker = None
    if thinking:
        unheard = replace(thinking.scenes, transcripts=None)
        talker = Talker(thinking.engine, unheard, thinking.kept, thinking.listening)
    answered = Answered(parts.redis, settings.answers_per_hour)

    def heard(now: LiveSettings) -> None:
        most = now.answers_per_hour
        answered.limit(settings.answers_per_hour if most is None else most)

    parts.live.on_change(heard)
    return CommentHandlers(
        parts.reader,
        Steering(settings.approvers, settings.own_accounts),
        answered,
        SystemClock(),
        talker,
    )


def _ties(
    settings: Settings, parts: Parts, thinking: Thinking | None
) -> tuple[Answering[TieAsked, TieAnswer], ...]:
    """Return who breaks ties; without a model nobody listens, and whoever asks knows at once."""
    model = roles.model(settings, ModelRole.RCA)
    if thinking is None or model is None:
        return ()
    chooser = Chooser(thinking.engine, model, thinking.kept)
    answering = Answering(
        parts.bus, TieAsked.subject, TieAsked, chooser.choose, seconds=choosing.SECONDS
    )
    return (answering,)


def reading(settings: Settings) -> Repositories:
    """Return what reads the repositories."""
    return repositories(config.load(settings.gitops_file), os.environ, SystemClock())


def world(settings: Settings, servers: Servers, source: Repositories | None = None) -> World:
    """Return what is looked at."""
    source = source or reading(settings)
    return World(
        clusters=connecting.clusters(settings, servers),
        history=GitHistory(source, source.gitops),
        clock=SystemClock(),
        metrics=outside.prometheus(settings),
        runbooks=tuple(_runbooks(settings)),
    )


def _runbooks(settings: Settings) -> Iterator[Runbooks]:
    if settings.knowledge_dir:
        yield KnowledgeFolder(settings.knowledge_dir)
    if settings.runbook_hosts:
        yield RunbookPages(settings.runbook_hosts)
