"""What agents are put together from, and the chat, which is one of them."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from tocsin_agents.instructions.file import InstructionsFile
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.state import TYPES
from tocsin_agents.models import litellm_client, roles
from tocsin_agents.models.port import Model
from tocsin_agents.models.roles import ModelRole
from tocsin_agents.skills.folder import NoSkills, SkillFolder
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import Mode
from tocsin_agents.tools.port import Toolset
from tocsin_agents.tools.toolsets import NamedToolset
from tocsin_cluster.fleet import Fleet
from tocsin_contracts.live import ChatMoved
from tocsin_contracts.toolcalls import CALL_SECONDS, AgentsAsked, DirectCall, ToolsAsked
from tocsin_gitops import secrets
from tocsin_gitops.repositories import Repositories
from tocsin_kit import intake
from tocsin_kit.asking import Answering
from tocsin_kit.chat_record import ChatFiles
from tocsin_kit.chats import Chats
from tocsin_kit.graphs import saver
from tocsin_kit.ledger import RedisLedger
from tocsin_kit.logging import secrets_of
from tocsin_kit.outbox import Outbox
from tocsin_kit.outputs import RedisOutputs
from tocsin_kit.parts import Parts
from tocsin_kit.redaction import Redactor
from tocsin_kit.registry import Registry
from tocsin_kit.tool_calls import ToolCalls
from tocsin_mcp.servers import Servers
from tocsin_rca import backends, tools
from tocsin_rca.chat import talker as assistant
from tocsin_rca.chat.answering import ChatHandlers
from tocsin_rca.chat.starting import SERVER, Receiver
from tocsin_rca.chat.talker import Models, Talker
from tocsin_rca.desk import Desk, Hosted
from tocsin_rca.discussion import choosing
from tocsin_rca.discussion import talker as commenter
from tocsin_rca.investigation import agent as investigator
from tocsin_rca.investigation.scenes import fleet_of
from tocsin_rca.ports import World
from tocsin_rca.settings import Settings
from tocsin_rca.tools import outside
from tocsin_rca.tools.runs import Earlier, RunTools

HOSTED = (
    (investigator.NAME, ModelRole.RCA, True, "Finds what causes an alert, and shows its evidence."),
    (commenter.NAME, ModelRole.RCA, True, "Answers comments on the pull requests of runs."),
    (choosing.NAME, ModelRole.RCA, False, "Breaks ties between places that rules leave open."),
    (assistant.NAME, ModelRole.CHAT, True, "Answers questions in chats."),
)
"""Our agents: what they are called, whose model they ask, whether they use tools, what they do."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of a fleet, and what masks secrets in what they say; `secrets` are the others'."""

    toolsets: Callable[[Fleet], Registry[NamedToolset]]
    redactor: Redactor
    secrets: frozenset[str]


@dataclass(frozen=True, slots=True)
class Equipment:
    """What every agent works with, whatever it is asked."""

    engine: Engine
    toolsets: Callable[[Fleet], Registry[NamedToolset]]
    redactor: Redactor
    kept: BaseCheckpointSaver[Any]


def toolbox(
    settings: Settings, seen: World, servers: Servers, source: Repositories, earlier: Earlier
) -> Toolbox:
    """Return the tools; PermanentError for a toolset that cannot be loaded."""
    asked = backends.opened(settings.backends)
    runs = RunTools(earlier).toolset()
    others = (runs, *outside.toolsets(settings, servers), *asked.toolsets)
    hidden = asked.secrets | secrets.known(source.gitops, os.environ)
    redactor = Redactor(secrets_of(settings) | hidden)

    def toolsets(fleet: Fleet) -> Registry[NamedToolset]:
        return tools.registry(
            fleet, seen.history, source, source.gitops, settings.toolsets, outside=others
        )

    toolsets(Fleet((), seen.clock.now))
    return Toolbox(toolsets, redactor, hidden)


def equipment(settings: Settings, parts: Parts, box: Toolbox) -> Equipment | None:
    """Return what agents work with; None if no model is set for any."""
    if not any(roles.chosen(settings, role) for role in ModelRole):
        return None
    engine = replace(
        taught(settings),
        limits=settings.investigation_limits,
        ledger=RedisLedger(parts.redis),
        outputs=RedisOutputs(parts.raw_redis, box.redactor),
    )
    litellm_client.warm_up()
    return Equipment(engine, box.toolsets, box.redactor, saver(parts.raw_redis, *TYPES))


def desk(
    settings: Settings, parts: Parts, seen: World, box: Toolbox
) -> tuple[Answering[Any, Any], ...]:
    """Return who answers people that use tools themselves; it needs no model."""
    chosen = ((one, next(iter(roles.chosen(settings, one[1])), "")) for one in HOSTED)
    at = Desk(
        partial(fleet_of, seen, "", settings.cluster_instructions),
        box.toolsets,
        box.redactor,
        ToolCalls(parts.redis),
        seen.clock,
        hosted=[
            Hosted(name, does, model, uses_tools=uses)
            for (name, _, uses, does), model in chosen
            if model
        ],
    )
    bus, seconds = parts.bus, CALL_SECONDS
    return (
        Answering(bus, ToolsAsked.subject, ToolsAsked, at.tools, seconds=seconds, at_once=4),
        Answering(bus, AgentsAsked.subject, AgentsAsked, at.agents, seconds=seconds, at_once=4),
        Answering(bus, DirectCall.subject, DirectCall, at.call, seconds=seconds, at_once=8),
    )


def taught(settings: Settings) -> Engine:
    """Return an engine that knows what agents are told beside their own instructions."""
    folder, file = settings.skills_dir, settings.instructions_file
    return Engine(
        skills=SkillFolder(folder) if folder else NoSkills(),
        instructions=InstructionsFile(file) if file else "",
    )


def chat(settings: Settings, parts: Parts, seen: World, with_: Equipment | None) -> ChatHandlers:
    """Return who answers questions in chats."""

    async def moved(session: str) -> None:
        await parts.bus.tell(ChatMoved(run_id=session, agent="chat"))

    redactor = with_.redactor if with_ else Redactor(secrets_of(settings))
    chats = Chats(parts.redis, moved)
    return ChatHandlers(
        chats,
        ChatFiles(parts.raw_redis),
        RedisOutputs(parts.raw_redis, redactor),
        parts.reader,
        publisher=parts.bus,
        talker=_talker(settings, parts, seen, chats, with_) if with_ else None,
    )


def _talker(
    settings: Settings, parts: Parts, seen: World, chats: Chats, with_: Equipment
) -> Talker | None:
    """Return who talks; None if no model is set for that."""
    models = _models(settings)
    if models("") is None:
        return None
    outbox = Outbox(parts.redis, intake.OWNER, intake.read, parts.bus.publish)
    records = intake.Intake(
        parts.redis,
        outbox,
        ttl_days=settings.run_ttl_days,
    )

    def offered(fleet: Fleet, mode: Mode, own: Toolset) -> Catalogue:
        return tools.conversational(with_.toolsets(fleet), (SERVER, own), mode, with_.redactor)

    return Talker(
        engine=replace(with_.engine, limits=settings.chat_limits),
        models=models,
        tools=offered,
        fleet=partial(fleet_of, seen, instructions=settings.cluster_instructions),
        world=seen,
        chats=chats,
        opening=Receiver(records, parts.runs),
        redactor=with_.redactor,
        saver=with_.kept,
    )


def _models(settings: Settings) -> Models:
    """Return what knows the models that may be asked for by name: those that settings name."""
    known: Mapping[str, Model | None] = {
        name: roles.model(settings.model_copy(update={"model_chat": name}), ModelRole.CHAT)
        for role in ModelRole
        for name in roles.chosen(settings, role)
    }
    meant = next(iter(roles.chosen(settings, ModelRole.CHAT)), "")
    return lambda name: known.get(name or meant)
