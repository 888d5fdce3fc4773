"""MCP servers over HTTP: two transports, credentials that change, and no way to another host."""

import asyncio
import json
import os
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from starlette.responses import PlainTextResponse, RedirectResponse

from tocsin_kit.processes import LOOPBACK, free_ports
from tocsin_mcp.config import load
from tocsin_mcp.doctor import examine
from tocsin_mcp.errors import LostError
from tocsin_mcp.peers import connect
from tocsin_mcp.pins import Pins
from tocsin_mcp.servers import Servers
from tocsin_mcp.session import State
from tocsin_testing.harness import until

pytestmark = pytest.mark.e2e
READS = ToolAnnotations(read_only_hint=True)


class Web:
    """A server whose door a test can lock, and who says what came through it."""

    def __init__(self, transport="streamable_http"):
        shop = MCPServer("shop")
        shop.tool(annotations=READS)(look)
        self.inner = shop.sse_app() if transport == "sse" else shop.streamable_http_app()
        self.path = "/sse" if transport == "sse" else "/mcp"
        self.token = ""
        self.elsewhere = ""
        self.requests = 0

    async def __call__(self, scope, receive, send):
        answer = self.inner
        if scope["type"] == "http":
            self.requests += 1
            given = dict(scope["headers"]).get(b"authorization", b"").decode()
            if self.token and given != f"Bearer {self.token}":
                answer = PlainTextResponse("no", 401)
            if self.elsewhere:
                answer = RedirectResponse(self.elsewhere + scope["path"])
        await answer(scope, receive, send)


def look(what: str) -> str:
    """Look at something."""
    return f"{what} is fine"


@asynccontextmanager
async def served(web, port=0):
    port = port or free_ports(1)[0]
    config = uvicorn.Config(web, host=LOOPBACK, port=port, log_config=None, ws="none")
    config.timeout_graceful_shutdown = 1
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())

    async def started():
        return server.started

    await until(started, bool)
    try:
        yield f"http://{LOOPBACK}:{port}"
    finally:
        server.should_exit = True
        await running


def read(folder, url, transport="streamable_http", **more):
    entry = {"transport": transport, "url": url, "allow": ["*"], "capabilities": {"*": "read"}}
    file = folder / "servers.yaml"
    file.write_text(json.dumps({"servers": {"shop": {**entry, "timeout": 5, **more}}}))
    return load(file, os.environ), Pins(folder / "pins.json", trust_first=True)


@asynccontextmanager
async def connected(folder, url, **more):
    async with Servers(*read(folder, url, **more)) as running:
        yield running.sessions["shop"]


async def text(session):
    return (await session.call("look", {"what": "it"})).text


@pytest.mark.parametrize("transport", ["streamable_http", "sse"])
async def test_a_tool_is_called_over(tmp_path, transport):
    web = Web(transport)
    async with (
        served(web) as url,
        connected(tmp_path, url + web.path, transport=transport) as session,
    ):
        assert await text(session) == "it is fine"


async def test_a_server_that_was_restarted_is_connected_again(tmp_path):
    port = free_ports(1)[0]
    async with AsyncExitStack() as stack:
        async with served(Web(), port) as url:
            session = await stack.enter_async_context(connected(tmp_path, f"{url}/mcp"))
            assert await text(session) == "it is fine"
        async with served(Web(), port):
            assert await text(session) == "it is fine"


async def test_a_credential_that_changed_is_read_again(tmp_path):
    web, secret = Web(), tmp_path / "headers"
    web.token = "first"
    secret.write_text("Authorization: Bearer first")
    source = {"file": str(secret)}
    async with (
        served(web) as url,
        connected(tmp_path, f"{url}/mcp", headers_from=source) as session,
    ):
        assert await text(session) == "it is fine"
        web.token = "second"
        secret.write_text("Authorization: Bearer second")
        assert await text(session) == "it is fine"


async def test_a_wrong_credential_is_said_and_never_shown(tmp_path):
    web = Web()
    web.token = "right"
    headers = {"Authorization": "Bearer wrong-but-secret"}
    async with (
        served(web) as url,
        connected(tmp_path, f"{url}/mcp", headers=headers) as session,
    ):
        assert session.state is State.AWAY
        assert "HTTP 401" in session.trouble
        assert "wrong-but" not in session.trouble
        with pytest.raises(LostError):
            session.offers()


async def test_no_redirect_leads_to_another_host(tmp_path):
    web, other = Web(), Web()
    async with served(other) as elsewhere, served(web) as url:
        web.elsewhere = elsewhere
        async with connected(tmp_path, f"{url}/mcp", headers={"X-Secret": "sesame"}) as session:
            assert session.state is State.AWAY
    assert web.requests > 0
    assert other.requests == 0


@pytest.mark.parametrize(
    ("real", "configured"), [("sse", "streamable_http"), ("streamable_http", "sse")]
)
async def test_the_doctor_finds_the_transport_that_works(tmp_path, real, configured):
    web = Web(real)
    async with served(web) as url:
        (server,), pins = read(tmp_path, url + web.path, configured)
        found = await examine(server, pins, connect)
    assert not found.healthy
    assert any(f"it answers by {real}" in finding.text for finding in found.findings)


async def test_the_doctor_is_content_with_a_server_that_works(tmp_path):
    async with served(Web()) as url:
        (server,), pins = read(tmp_path, f"{url}/mcp")
        found = await examine(server, pins, connect)
    assert found.healthy
    assert [offer.name for offer in found.offers] == ["look"]
