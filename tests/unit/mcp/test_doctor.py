"""What is wrong with a server is named, with what to do about it."""

import pytest

from tocsin_mcp.doctor import Mark, examine
from tocsin_mcp.entries import Entry, Transport
from tocsin_mcp.errors import LostError, RefusedError
from tocsin_mcp.pins import Pins
from tocsin_testing.mcp import FakeServer, listed, server


@pytest.fixture
def pins(tmp_path):
    return Pins(tmp_path / "pins.json", trust_first=True)


def wrong(diagnosis):
    return [finding.text for finding in diagnosis.findings if finding.mark is Mark.WRONG]


async def test_a_server_without_a_fault_is_healthy(pins):
    found = await examine(server(), pins, FakeServer(listed("look")).connect)
    assert found.healthy
    assert "1 of its 1 tools are offered" in [finding.text for finding in found.findings]


async def test_a_disabled_server_is_healthy_and_left_alone(pins):
    shop = FakeServer(listed("look"))
    assert (await examine(server(disabled=True), pins, shop.connect)).healthy
    assert shop.connects == 0


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (LostError("it answered HTTP 401"), "headers_from"),
        (LostError("All connection attempts failed"), "start it"),
        (LostError("Connection closed; it said: oh no"), "by hand"),
    ],
)
async def test_a_server_that_is_not_reached_gets_advice(pins, error, advice):
    shop = FakeServer(listed("look"))
    shop.refusals.append(error)
    found = await examine(server(), pins, shop.connect)
    assert not found.healthy
    assert any(advice in finding.text for finding in found.findings)


async def test_a_server_that_says_nothing_is_not_waited_for(pins):
    shop = FakeServer(listed("look"))
    shop.awake.clear()
    found = await examine(server(timeout=0.02), pins, shop.connect)
    assert wrong(found) == ["not reached at shop: no connection within 0.02 s"]
    assert shop.open == 0


async def test_the_other_transport_is_tried(pins):
    shop = FakeServer(listed("look"))
    shop.refusals.append(LostError("it answered HTTP 405"))
    entry = Entry(transport=Transport.SSE, url="http://shop/mcp", allow=["*"])
    web = type(server())("shop", entry)
    found = await examine(web, pins, shop.connect)
    assert found.findings[-1].text == "it answers by streamable_http: change 'transport'"


async def test_a_server_that_refuses_to_list_its_tools_is_wrong(pins):
    shop = FakeServer()
    shop.refusals.append(RefusedError("unknown method"))
    assert "unknown method" in wrong(await examine(server(), pins, shop.connect))[0]


async def test_tools_that_changed_and_tools_that_cannot_be_used_are_named(pins):
    pins.accept("shop", listed("look", digest="before"))
    shop = FakeServer(listed("look"), listed("odd", parameters={}), listed("good"))
    said = wrong(await examine(server(), pins, shop.connect))
    assert [one.partition(":")[0] for one in said] == ["look", "odd"]


async def test_a_pattern_that_fits_nothing_is_named(pins):
    shop = server(allow=["look", "lok"], capabilities={"loook": "read"})
    said = wrong(await examine(shop, pins, FakeServer(listed("look")).connect))
    assert said == [
        "'lok' in 'allow' fits none of its tools",
        "'loook' in 'capabilities' fits none of its tools",
    ]


async def test_a_declared_read_that_the_server_does_not_confirm_is_noted(pins):
    tool = listed("look", read_only_hint=False)
    found = await examine(server(), pins, FakeServer(tool).connect)
    assert found.healthy
    assert any("counts as one that writes" in finding.text for finding in found.findings)
