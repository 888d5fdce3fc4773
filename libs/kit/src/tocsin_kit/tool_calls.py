"""The newest direct calls of tools, for whoever wants to know who looked at what."""

from datetime import timedelta

from pydantic import ValidationError
from redis.asyncio import Redis

from tocsin_contracts.toolcalls import ToolCallView
from tocsin_kit import keys, logging
from tocsin_kit.store import translated

MOST_CALLS = 1000
KEPT = timedelta(days=90)

log = logging.get(__name__)


class ToolCalls:
    """Keeps a thousand calls. Both methods raise TransientError without an answer of the store."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def record(self, call: ToolCallView) -> None:
        """Keep one; its arguments have to be masked already."""
        async with translated("record a call of a tool"):
            pipe = self._client.pipeline(transaction=False)
            pipe.lpush(keys.tool_calls(), call.model_dump_json())
            pipe.ltrim(keys.tool_calls(), 0, MOST_CALLS - 1)
            pipe.expire(keys.tool_calls(), KEPT)
            await pipe.execute()

    async def recent(self, limit: int) -> tuple[ToolCallView, ...]:
        """Return the newest calls first."""
        async with translated("list calls of tools"):
            bodies = await self._client.lrange(keys.tool_calls(), 0, limit - 1)
        return tuple(call for body in bodies if (call := _read(str(body))))


def _read(body: str) -> ToolCallView | None:
    try:
        return ToolCallView.model_validate_json(body)
    except ValidationError as error:
        log.warning("tool_calls.unreadable", faults=error.error_count())
        return None
