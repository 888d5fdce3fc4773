"""The tools of an MCP server are tools like any other."""

import pytest

from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.mcp_toolset import McpToolset
from tocsin_agents.tools.modes import Mode
from tocsin_agents.tools.port import Capability, Identity, Status, ToolContext
from tocsin_mcp.errors import LostError, RefusedError
from tocsin_mcp.pins import Pins
from tocsin_mcp.servers import Servers
from tocsin_testing.fakes import FakeClock
from tocsin_testing.mcp import FakeServer, listed, server

ANN = Identity("ann")
CONTEXT = ToolContext(identity=ANN)


@pytest.fixture
def shop():
    return FakeServer(listed("Look"), listed("buy", read_only_hint=False), listed("hidden"))


@pytest.fixture
async def toolset(shop, tmp_path):
    pins = Pins(tmp_path / "pins.json", trust_first=True)
    one = server(allow=["Look", "buy"], concurrency=1)
    async with Servers([one], pins, connect=shop.connect, clock=FakeClock()) as servers:
        yield McpToolset(servers.sessions["shop"])


async def test_only_what_is_offered_is_listed_with_what_it_can_do(toolset):
    specs = {tool.spec.name: tool.spec.capability for tool in await toolset.tools(ANN)}
    assert specs == {"shop.look": Capability.READ, "shop.buy": Capability.WRITE}


async def test_a_call_goes_through_the_catalogue(toolset):
    catalogue = Catalogue({"shop": toolset}, Mode.ASK)
    assert (await catalogue.call("shop.look", {}, CONTEXT)).data == "Look done"
    assert (await catalogue.call("shop.buy", {}, CONTEXT)).status is Status.REFUSED


async def test_a_failure_is_a_result(toolset, shop):
    look, _ = await toolset.tools(ANN)
    shop.faults.append(RefusedError("no such shelf"))
    result = await look.call({}, CONTEXT)
    assert (result.status, result.error) == (Status.ERROR, "no such shelf")
    shop.faults.extend([LostError("cut"), LostError("cut")])
    result = await look.call({}, CONTEXT)
    assert result.status is Status.ERROR
    assert "away" in result.error


async def test_a_tool_that_is_not_offered_any_more_is_refused(toolset, shop):
    look, _ = await toolset.tools(ANN)
    shop.listed = (listed("Look", digest="other"),)
    shop.faults.append(LostError("cut"))
    assert (await look.call({}, CONTEXT)).status is Status.REFUSED
