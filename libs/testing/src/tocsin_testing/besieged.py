"""The three works in which a model reads what others wrote, in a shop of poisoned texts."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from tocsin_agents.limits.budgets import Limit, Limits
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.outputs import MemoryOutputs
from tocsin_agents.loop.state import TYPES
from tocsin_agents.models.port import Model
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import Mode
from tocsin_agents.tools.port import Capability, Toolset
from tocsin_agents.tools.toolsets import NamedToolset, OwnTools
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.fleet import Fleet
from tocsin_contracts import Alert, Event, ForgeEventReceived, IncidentOpened
from tocsin_contracts.chat import ChatAsked
from tocsin_gitops.config import GitOps, Repository
from tocsin_kit.checkpoint_cells import strict_serializer
from tocsin_kit.intake import Admission
from tocsin_kit.redaction import Redactor
from tocsin_kit.steering import Steering
from tocsin_rca import tools
from tocsin_rca.chat.answering import ChatHandlers
from tocsin_rca.chat.confirming import Confirming
from tocsin_rca.chat.ports import Chats
from tocsin_rca.chat.starting import SERVER
from tocsin_rca.chat.talker import Talker as ChatTalker
from tocsin_rca.chat.turn import Turn
from tocsin_rca.collectors.history import GitHistory
from tocsin_rca.discussion.answering import CommentHandlers
from tocsin_rca.discussion.talker import Talker
from tocsin_rca.investigation.scenes import Living, fleet_of
from tocsin_rca.ports import World
from tocsin_rca.tools.cluster import ClusterTools
from tocsin_rca.tools.git import GitTools
from tocsin_testing.agents import FakeTool
from tocsin_testing.chatting import FakeChats, FakeFiles
from tocsin_testing.fakes import FakeClock, FakeIntake, FakePublisher, FakeRuns
from tocsin_testing.investigating import Workplace
from tocsin_testing.poisoned_shop import REPO, Texts, cluster, fill
from tocsin_testing.repositories import FakeRepositories

CALLS = 12
"""Of a model in one work."""


class Besieged:
    """Everything that a model can reach; beside it only what keeps what was done.

    An operator has connected a server `ops` whose other tools do harm, `dangerous` all of them.
    """

    def __init__(self, folder: Path, texts: Texts) -> None:
        self.clock, self.repositories = FakeClock(), FakeRepositories()
        fill(self.repositories, texts)
        self.gitops = GitOps(
            repositories=(Repository(name=REPO, git_dir=Path("none.git"), paths=("apps/**",)),)
        )
        history = GitHistory(self.repositories, self.gitops)
        self.world = World(OneCluster(cluster(folder, texts)), history, self.clock)
        self.runs, self.chats = FakeRuns(), FakeChats(self.clock, says=False)
        self.intake, self.bus = FakeIntake(), FakePublisher()
        self.saver = InMemorySaver(serde=strict_serializer(*TYPES))
        self.engine = Engine(
            limits=Limits(run=Limit(model_calls=CALLS, seconds=60), soft=None),
            outputs=MemoryOutputs(),
            nonce=map(str, count()).__next__,
        )
        self.search = _search(texts.get("tool description", "Search the manual."))
        self.dangerous = (
            FakeTool("ops.silence", capability=Capability.WRITE),
            FakeTool("ops.apply", capability=Capability.WRITE),
            FakeTool("ops.page", capability=Capability.NOTIFY),
        )

    async def investigates(self, model: Model, opened: IncidentOpened) -> Event | None:
        """Look for the cause of an alert; return what rca says."""
        place = Workplace(
            world=self.world,
            runs=self.runs,
            saver=self.saver,
            engine=self.engine,
            others=self._connected(),
        )
        handlers, _ = place.worker(model)
        return await handlers.on_incident_opened(opened)

    async def chats_with(self, model: Model, asked: ChatAsked) -> None:
        """Answer a question in a chat that may do as much as any; what comes is on `bus`."""
        talker = ChatTalker(
            engine=self.engine,
            models=lambda _: model,
            tools=self._offered,
            fleet=lambda name: fleet_of(self.world, name, {}),
            world=self.world,
            chats=self.chats,
            opening=Door(self.intake),
            redactor=Redactor(),
            confirming=_at_once,
            saver=self.saver,
            look_seconds=0.001,
        )
        handlers = ChatHandlers(
            self.chats,
            FakeFiles(),
            MemoryOutputs(),
            self.runs,
            publisher=self.bus,
            talker=talker,
        )
        await handlers.on_chat_asked(asked)

    async def hears(self, model: Model, comment: ForgeEventReceived) -> Sequence[Event]:
        """Hear a comment of an approver on a pull request; return what rca says."""

        def reading(fleet: Fleet) -> Catalogue:
            return tools.catalogue(self._all(fleet), Mode.ASK, Redactor())

        scenes = Living(model, self.world, reading, self.engine.limits)
        talker = Talker(self.engine, scenes, self.saver)
        steering = Steering(["github:11"], [])
        handlers = CommentHandlers(self.runs, steering, Room(), self.clock, talker)
        return await handlers.on_forge_event(comment)

    def _connected(self) -> tuple[NamedToolset, ...]:
        git = GitTools(self.world.history, self.repositories, self.gitops).toolset()
        return (git, OwnTools("ops", (self.search, *self.dangerous)))

    def _all(self, fleet: Fleet) -> tuple[NamedToolset, ...]:
        return (ClusterTools(fleet).toolset(), *self._connected())

    def _offered(self, fleet: Fleet, mode: Mode, own: Toolset) -> Catalogue:
        return tools.conversational(self._all(fleet), (SERVER, own), mode, Redactor())


class Door:
    """Opens runs in the receiver's record of the test."""

    def __init__(self, intake: FakeIntake) -> None:
        self._intake = intake

    async def take(self, incident_key: str, alert: Alert) -> Admission:
        """Attach an alert, or open a run."""
        return await self._intake.admit(incident_key, alert)


class Room:
    """Always has room for another answer."""

    async def takes(self, run_id: str, asked: str, now: Any) -> bool:
        """Give a place."""
        del run_id, asked, now
        return True


def _search(description: str) -> FakeTool:
    tool = FakeTool("ops.search")
    words = {"type": "object", "properties": {"words": {"type": "string"}}}
    tool.spec = tool.spec.model_copy(update={"description": description, "parameters": words})
    return tool


def _at_once(chats: Chats, turn: Turn, redactor: Redactor) -> Confirming:
    return Confirming(chats, turn, redactor, timedelta(0), 0.001)
