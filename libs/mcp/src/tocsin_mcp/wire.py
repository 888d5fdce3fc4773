"""The MCP protocol, through its own library: the one file that imports it."""

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from importlib.metadata import version
from typing import Any

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters, Tool, stdio_client
from mcp.client import Transport as Streams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult, Implementation
from pydantic import SecretStr, ValidationError

from tocsin_kit.untrusted import clean, line
from tocsin_mcp import credentials
from tocsin_mcp.answers import answer
from tocsin_mcp.config import Server
from tocsin_mcp.entries import Transport
from tocsin_mcp.errors import LostError, RefusedError, SilentError
from tocsin_mcp.port import CallAnswer, ListedTool, OnProgress
from tocsin_mcp.processes import bare
from tocsin_mcp.schema import DESCRIPTION_LIMIT, cleaned, digest
from tocsin_mcp.sifting import Sifted
from tocsin_mcp.stderr import Said, listening

MOST_PAGES = 50
MOST_TOOLS = 500
_BACKSTOP_SECONDS = 5.0
_GONE = frozenset({401, 403, 404, 502, 503, 504})

logging.getLogger("mcp").setLevel(logging.CRITICAL)
"""It logs what a server wrote, unmasked and with tracebacks; we say ourselves what went wrong."""

_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)
FAULTS = (
    *(MCPError, OSError, httpx2.HTTPError, httpx2.InvalidURL, *_CLOSED, LostError, RefusedError),
    *(ValueError, RuntimeError, LookupError, TypeError, AttributeError, AssertionError),
)
"""What comes out of the library when the other side is away, broken or hostile."""


class HttpStatus:
    """The last HTTP answer that was no success: the library keeps it to itself."""

    def __init__(self) -> None:
        self.code = 0

    async def note(self, response: httpx2.Response) -> None:
        """Remember an answer."""
        self.code = 0 if response.is_success else response.status_code

    def __str__(self) -> str:
        return f"it answered HTTP {self.code}" if self.code else ""


class WirePeer:
    """A connected server."""

    def __init__(self, client: Client, said: Said, status: HttpStatus) -> None:
        self._client = client
        self._server = said.server
        self._said = said
        self._status = status

    async def tools(self) -> tuple[ListedTool, ...]:
        """Return all tools, up to a number that no honest server exceeds."""
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            with self._spoken():
                page = await self._client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if not cursor or len(found) >= MOST_TOOLS:
                break
        return tuple(listed(tool) for tool in found[:MOST_TOOLS])

    async def call(
        self, tool: str, arguments: Mapping[str, Any], on_progress: OnProgress | None = None
    ) -> CallAnswer:
        """Use a tool; what is cancelled is cancelled at the server too."""

        async def told(progress: float, total: float | None, message: str | None) -> None:
            share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
            if on_progress is not None:
                await on_progress(line(message or share))

        with self._spoken():
            result = await self._client.call_tool(
                tool, dict(arguments), progress_callback=told if on_progress else None
            )
        return _answer(result, self._server.entry.result_limit)

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        """Say in our own errors what the library raises."""
        self._status.code = 0
        try:
            yield
        except MCPError as error:
            said = line(self._said.masked(error.message), 400)
            if error.code == REQUEST_TIMEOUT:
                raise SilentError(f"no answer: {said}") from error
            if error.code == CONNECTION_CLOSED or self._status.code in _GONE:
                raise LostError(_joined(str(self._status), said)) from error
            raise RefusedError(f"MCP server {self._server.name!r} refuses: {said}") from error
        except (OSError, httpx2.HTTPError, *_CLOSED) as error:
            raise LostError(self._said.masked(_plain(error))) from error


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[WirePeer]:
    """Connect, and close on the way out; a process that was started has ended then.

    Whatever goes wrong with the server, inside the block too, comes out as a LostError with the
    last words of its standard error.
    """
    said, status, lost = Said(server), HttpStatus(), ""
    try:
        async with AsyncExitStack() as stack:
            streams = _sifted(await _streams(said, status, stack))
            client = await stack.enter_async_context(
                Client(
                    streams,
                    read_timeout_seconds=server.entry.timeout + _BACKSTOP_SECONDS,
                    client_info=Implementation(name="tocsin", version=version("tocsin-mcp")),
                    cache=None,
                )
            )
            yield WirePeer(client, said, status)
    except* FAULTS as group:
        lost = _joined(str(status), *dict.fromkeys(map(_plain, _leaves(group))))
    if lost:
        raise LostError(_joined(said.masked(lost), *(f"it said: {one}" for one in said.last)))


async def _streams(said: Said, status: HttpStatus, stack: AsyncExitStack) -> Streams:
    entry = said.server.entry
    if entry.transport is Transport.STDIO:
        env = _open(entry.env)
        if entry.env_from is not None:
            fresh = await credentials.read(entry.env_from, "=")
            said.hide(fresh.values())
            env |= fresh
        command, args = bare(entry.command, entry.args, env)
        errlog = await stack.enter_async_context(listening(said))
        return stdio_client(StdioServerParameters(command=command, args=args, env=env), errlog)
    headers = _open(entry.headers)
    if entry.headers_from is not None:
        fresh = await credentials.read(entry.headers_from, ":")
        said.hide(fresh.values())
        headers |= fresh
    factory = _http(status)
    if entry.transport is Transport.SSE:
        return sse_client(entry.url, headers=headers, httpx_client_factory=factory)
    http = await stack.enter_async_context(
        factory(headers, httpx2.Timeout(entry.timeout + _BACKSTOP_SECONDS), None)
    )
    return streamable_http_client(entry.url, http_client=http)


@asynccontextmanager
async def _sifted(streams: Streams) -> AsyncIterator[tuple[Any, Any]]:
    async with streams as (reading, writing):
        yield Sifted(reading, is_tool), writing


def is_tool(told: Mapping[str, Any]) -> bool:
    """Return whether the library takes what a server says of a tool."""
    try:
        Tool.model_validate(told, by_name=False)
    except ValidationError:
        return False
    return True


def _http(status: HttpStatus) -> Callable[..., httpx2.AsyncClient]:
    """Return what makes HTTP clients; the library follows a redirect only to where it came from."""

    def make(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            headers=headers,
            timeout=timeout or httpx2.Timeout(None),
            auth=auth,
            follow_redirects=False,
            event_hooks={"response": [status.note]},
        )

    return make


def _open(values: Mapping[str, SecretStr]) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in values.items()}


def listed(tool: Tool) -> ListedTool:
    """Return a tool as we show it; its digest covers every word that its server said."""
    described = tool.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"icons"})
    hints = tool.annotations
    return ListedTool(
        name=tool.name,
        description=clean(tool.description or "", DESCRIPTION_LIMIT).text,
        parameters=cleaned(tool.input_schema),
        read_only_hint=bool(hints and hints.read_only_hint),
        destructive_hint=bool(hints and hints.destructive_hint),
        digest=digest(described),
    )


def _answer(result: CallToolResult, limit: int) -> CallAnswer:
    blocks = [block.model_dump(mode="json", by_alias=True) for block in result.content]
    return answer(blocks, result.structured_content, is_error=bool(result.is_error), limit=limit)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _plain(error: BaseException) -> str:
    return line(str(error), 400) or type(error).__name__


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
