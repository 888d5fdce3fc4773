"""What stands around an investigation: the model, tools and clusters, alive or as they were."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from tocsin_agents.limits.budgets import Limit, Limits
from tocsin_agents.limits.ledger import Ledger
from tocsin_agents.models.port import Model
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.port import Toolset
from tocsin_cluster.fleet import Fleet, Member
from tocsin_contracts import BudgetExhausted, ClusterContext, Extension
from tocsin_kit.errors import TocsinError
from tocsin_rca.collectors.target import cluster_of
from tocsin_rca.evidence.comparison import summary
from tocsin_rca.investigation.known import Answer, Known
from tocsin_rca.ports import Transcripts, World
from tocsin_rca.recording.entries import Beginning, End, Granted
from tocsin_rca.recording.prompter import Prompter
from tocsin_rca.recording.scribe import RecordedLedger, RecordedModel, RecordedTools, Scribe
from tocsin_rca.recording.worlds import taped


class Minutes(Protocol):
    """Is told how an investigation goes on."""

    async def began(self, scene: "Scene") -> None:
        """Hear with what it begins."""

    def kept(self, ledger: Ledger) -> Ledger:
        """Return a ledger of which it is heard what it says."""

    async def granted(self, extension: Extension, model_calls: int) -> None:
        """Hear what people answered to a pause after so many calls of the model."""

    async def came_to(self, answer: Answer | BudgetExhausted | None) -> None:
        """Hear what it came to."""


class Unheard:
    """Keeps nothing."""

    async def began(self, scene: "Scene") -> None:
        """Keep nothing."""

    def kept(self, ledger: Ledger) -> Ledger:
        """Keep nothing."""
        return ledger

    async def granted(self, extension: Extension, model_calls: int) -> None:
        """Keep nothing."""

    async def came_to(self, answer: Answer | BudgetExhausted | None) -> None:
        """Keep nothing."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Whom one investigation asks; `world` is for what is looked up after the model's result.

    `sub_agents` are agents elsewhere, which have a tool among the `tools`.
    """

    model: Model
    tools: Toolset
    clusters: ClusterContext
    now: datetime
    world: World
    sub_agents: tuple[str, ...] = ()
    minutes: Minutes = field(default_factory=Unheard)


class Scenes(Protocol):
    """Knows what stands around an investigation."""

    async def of(self, known: Known) -> Scene:
        """Return it for one attempt."""


def fleet_of(world: World, cluster: str, instructions: Mapping[str, str]) -> Fleet:
    """Return the cluster of a name, or without one all; TocsinError for a name that nobody has."""
    meant = world.clusters.meant(cluster).items()
    members = [Member(name, one, instructions.get(name, "")) for name, one in meant]
    return Fleet(members, world.clock.now)


@dataclass(frozen=True, slots=True)
class Living:
    """The model, the tools and the clusters themselves; with `transcripts` all is written down.

    `instructions` are what the operator says about a cluster, by its name.
    """

    model: Model
    world: World
    catalogue: Callable[[Fleet], Catalogue]
    limits: Limits
    transcripts: Transcripts | None = None
    sub_agents: tuple[str, ...] = ()
    instructions: Mapping[str, str] = field(default_factory=dict)

    async def of(self, known: Known) -> Scene:
        """Look at the clusters, and open the transcript."""
        fleet = self._fleet(known)
        clusters, now = await fleet.look(), self.world.clock.now()
        tools = self.catalogue(fleet)
        if self.transcripts is None:
            return Scene(self.model, tools, clusters, now, self.world, self.sub_agents)
        scribe = Scribe(self.transcripts, known.run_id, known.attempt)
        await scribe.open()
        return Scene(
            RecordedModel(self.model, scribe),
            RecordedTools(tools, scribe),
            clusters,
            now,
            taped(self.world, cluster_of(known.alert), scribe),
            self.sub_agents,
            Written(scribe, self.limits),
        )

    def _fleet(self, known: Known) -> Fleet:
        """Return the cluster that the alert names, or all that it may be about."""
        try:
            return fleet_of(self.world, cluster_of(known.alert), self.instructions)
        except TocsinError:
            return Fleet((), self.world.clock.now)


@dataclass(frozen=True, slots=True)
class Written:
    """Minutes in a transcript."""

    scribe: Scribe
    limits: Limits

    async def began(self, scene: "Scene") -> None:
        """Write it, unless an earlier worker did: the conversation began with that."""
        price = await scene.model.price() if self.limits.of_money else None
        told = Beginning(
            at=scene.now,
            clusters=scene.clusters,
            model=scene.model.name,
            limits=self.limits,
            sub_agents=scene.sub_agents,
            price=price,
        )
        await self.scribe.once("begin", told)

    def kept(self, ledger: Ledger) -> Ledger:
        """Have it written what the ledger says, where a limit depends on that."""
        bounded = {self.limits.source, self.limits.day} - {Limit()}
        return RecordedLedger(ledger, self.scribe) if bounded else ledger

    async def granted(self, extension: Extension, model_calls: int) -> None:
        """Write it."""
        await self.scribe.write(f"budget:{model_calls:04}", Granted(extension=extension))

    async def came_to(self, answer: Answer | BudgetExhausted | None) -> None:
        """Write it; somebody who stopped it leaves no end."""
        if isinstance(answer, BudgetExhausted):
            await self.scribe.write("end", End(paused=True))
        elif answer:
            await self.scribe.write("end", End(concluded=summary(answer)))


@dataclass(frozen=True, slots=True)
class Played:
    """What answered then, in a world that answers as it did then."""

    prompter: Prompter
    world: World

    async def of(self, known: Known) -> Scene:
        """Return it as it was."""
        del known
        began = self.prompter.beginning
        prompter, others = self.prompter, began.sub_agents
        return Scene(prompter, prompter, began.clusters, began.at, self.world, others)
