"""What an operator can follow in the log while a model investigates: never a word of anybody."""

from tocsin_agents.loop.events import AgentEvent, ModelAnswered, ToolEnded, ToolsAway
from tocsin_kit import logging

log = logging.get(__name__)


async def logged(event: AgentEvent) -> None:
    """Log each call with what it used; a cost that nobody knows is None."""
    match event:
        case ModelAnswered(model=model, usage=used):
            log.info(
                "rca.model_answered",
                model=model,
                input=used.input_tokens,
                cached=used.cached_tokens,
                output=used.output_tokens,
                cost=None if used.cost is None else str(used.cost),
            )
        case ToolEnded(tool=tool, status=status, seconds=seconds):
            log.info("rca.tool_used", tool=tool, status=status.value, seconds=round(seconds, 2))
        case ToolsAway(why=why):
            log.warning("rca.tools_away", why=why)
