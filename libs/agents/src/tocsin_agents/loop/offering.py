"""Which tools an agent has in a turn, and how its model is shown them."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tocsin_agents.agent import Agent
from tocsin_agents.loop import events
from tocsin_agents.loop.invocation import Invocation
from tocsin_agents.loop.outputs import Outputs, ReadOutput
from tocsin_agents.loop.watching import StoppedError, watching
from tocsin_agents.models.port import OfferedTool
from tocsin_agents.tools.port import Tool, Toolset
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.untrusted import clean

SUBMIT = "submit"
DESCRIPTION_CHARACTERS = 1024


async def tools_of(
    agent: Agent, invocation: Invocation, outputs: Outputs, seconds: float
) -> Mapping[str, Tool]:
    """Return the agent's tools by name; a toolset that is away or slow is told of and left out."""
    found: dict[str, Tool] = {}
    for given in agent.tools:
        for tool in await _opened(given, agent.name, invocation, seconds):
            name = tool.spec.name
            if name in found:
                raise PermanentError(f"agent {agent.name!r} has two tools called {name!r}")
            found[name] = tool
    if found:
        reader = ReadOutput(outputs, invocation.scope)
        found[reader.spec.name] = reader
    return found


def offered(tool: Tool) -> OfferedTool:
    """Return a tool as a model sees it; its description may be somebody else's words."""
    spec = tool.spec
    described = clean(spec.description, DESCRIPTION_CHARACTERS).text
    return OfferedTool(name=spec.name, description=described, parameters=spec.parameters)


def submit(schema: type[BaseModel]) -> OfferedTool:
    """Return the tool that an agent with an output schema ends with."""
    parameters: Mapping[str, Any] = schema.model_json_schema()
    text = "Give the final result. Call it exactly once, when you are done."
    return OfferedTool(name=SUBMIT, description=text, parameters=parameters)


async def _opened(
    given: Tool | Toolset, agent: str, invocation: Invocation, seconds: float
) -> list[Tool]:
    if not isinstance(given, Toolset):
        return [given]
    try:
        async with watching(seconds, invocation.cancel):
            return list(await given.tools(invocation.tools.identity))
    except TransientError as error:
        why = str(error)
    except StoppedError as stopped:
        why = f"a toolset did not say within {seconds:g} s what it has ({stopped.why.value})"
    await invocation.hear(events.ToolsAway(agent=agent, why=why))
    return []
