"""Several specialists at one question: so many at once, their findings in a fixed order."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from tocsin_agents.agent import Agent
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.invocation import Invocation
from tocsin_agents.loop.outcome import Outcome
from tocsin_agents.loop.running import Loop, Ran, Work
from tocsin_kit.errors import PermanentError, TocsinError
from tocsin_kit.spending import Spending


@dataclass(frozen=True, slots=True)
class Heard:
    """What one specialist found, or why it found nothing: missing is not the same as healthy."""

    agent: str
    outcome: Outcome | None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """The findings of all, in the order of the specialists; a later one's state wins."""

    heard: Sequence[Heard]
    changes: Mapping[str, Any]
    spent: Spending

    @property
    def text(self) -> str:
        """All findings as one text."""
        return "\n\n".join(f"## {one.agent}\n{_said(one)}" for one in self.heard)


class Parallel:
    """A bounded fan-out. Together the specialists stay within the limits of one run.

    None of them pauses to ask for more: each ends at its share with what it has.
    """

    def __init__(
        self,
        specialists: Sequence[Agent],
        engine: Engine,
        *,
        at_once: int = 3,
        saver: BaseCheckpointSaver[Any] | None = None,
        service: str = "rca",
    ) -> None:
        names = [agent.name for agent in specialists]
        if len(set(names)) != len(names) or not names:
            raise PermanentError(f"specialists need names of their own: {names!r}")
        self._at_once = at_once
        limits = engine.limits
        share = limits.model_copy(update={"run": limits.run.shared(len(names)), "soft": None})
        each = replace(engine, limits=share)
        self._loops = {agent.name: Loop(agent, each, saver, service) for agent in specialists}

    async def run(self, work: Work, invocation: Invocation) -> Merged:
        """Ask every specialist the same; one that fails hides nothing that others found."""
        turns = asyncio.Semaphore(self._at_once)

        async def one(name: str, loop: Loop) -> Ran | TocsinError:
            async with turns:
                try:
                    own = replace(work, attempt=f"{work.attempt}.{name}")
                    return await loop.run(own, invocation)
                except TocsinError as error:
                    return error

        async with asyncio.TaskGroup() as group:
            tasks = {n: group.create_task(one(n, loop)) for n, loop in self._loops.items()}
        return _merged({name: task.result() for name, task in tasks.items()})


def _merged(found: Mapping[str, Ran | TocsinError]) -> Merged:
    heard: list[Heard] = []
    changes: dict[str, Any] = {}
    spent = Spending()
    for name, ran in found.items():
        if isinstance(ran, TocsinError):
            heard.append(Heard(name, None, str(ran)))
            continue
        heard.append(Heard(name, ran.outcome))
        changes |= ran.changes
        spent += ran.spent
    return Merged(tuple(heard), changes, spent)


def _said(one: Heard) -> str:
    if one.outcome is None:
        return f"(missing: {one.missing})"
    limited = f"\n({one.outcome.ending.value}: {one.outcome.why})" if one.outcome.why else ""
    return f"{one.outcome.text}{limited}".strip() or "(nothing)"
