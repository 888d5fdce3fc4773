"""The agent that investigates: what it is told, may use, and has to hand in."""

from collections.abc import Callable, Iterable
from datetime import datetime

from pydantic import BaseModel

from tocsin_agents.agent import Agent, External
from tocsin_agents.callbacks import Callbacks, Step
from tocsin_agents.models.port import Model
from tocsin_agents.tools.port import Toolset
from tocsin_contracts import CauseClass
from tocsin_rca.investigation import telling
from tocsin_rca.investigation.checking import flaws
from tocsin_rca.investigation.gathering import EVIDENCE, OBJECTS, SHOWN, Gathering
from tocsin_rca.investigation.submission import Submission

NAME = "investigator"


def investigator(
    model: Model,
    tools: Toolset,
    rejected: Iterable[CauseClass],
    now: Callable[[], datetime],
    others: Iterable[str] = (),
) -> Agent:
    """Return the agent; a result that points at what it never saw goes back to it once.

    `others` are agents elsewhere that it may hand over to, through their tools.
    """
    gathering, ruled_out = Gathering(now), frozenset(rejected)

    async def check(step: Step, result: BaseModel) -> str | None:
        if not isinstance(result, Submission):
            return "it is no result of an investigation"
        gathered = [one["id"] for one in step.state.get(EVIDENCE, [])]
        return flaws(
            result,
            evidence=[*step.state.get(SHOWN, []), *gathered],
            objects=step.state.get(OBJECTS, []),
            rejected=ruled_out,
        )

    return Agent(
        name=NAME,
        description="you find what causes an alert, and prove it.",
        model=model,
        instructions=telling.ROLE,
        tools=(tools,),
        sub_agents=tuple(map(External, others)),
        output_schema=Submission,
        callbacks=Callbacks(
            after_tool=(gathering.keep,),
            after_model=(gathering.name,),
            check_result=(check,),
        ),
    )
