"""`tocsin-rca tools`: every tool there could be, and why one is not offered."""

import pytest

from tocsin_cluster import connecting
from tocsin_mcp.errors import LostError
from tocsin_mcp.pins import Pins
from tocsin_mcp.servers import Servers
from tocsin_rca.settings import Settings
from tocsin_rca.tools import telling
from tocsin_testing.mcp import FakeServer, listed, server

OURS = ["k8s.get", "k8s.list", "k8s.events", "k8s.logs", "git.changes", "git.commits"]


@pytest.fixture
def shop():
    return FakeServer(
        listed("look"), listed("buy", destructive_hint=True), listed("steal", read_only_hint=False)
    )


@pytest.fixture
def told(monkeypatch, tmp_path, shop):
    """Return the state of each tool by its name."""
    pins = Pins(tmp_path / "pins.json", trust_first=True)
    allowed = {"allow": ["look", "buy"]}
    monkeypatch.setattr(
        connecting, "servers", lambda _: Servers([server(**allowed)], pins, connect=shop.connect)
    )

    async def rows(**settings):
        return {one.name: one.state for one in await telling.rows(Settings(**settings))}

    return rows


async def test_our_own_tools_are_offered(told):
    states = await told()
    assert {states[name] for name in [*OURS, "git.read_file"]} == {"offered"}


async def test_of_a_server_only_reads_that_are_allowed_are_offered(told):
    states = await told()
    assert states["shop.look"] == "offered"
    assert states["shop.buy"] == "only reads are used"
    assert states["shop.steal"] == "not allowed"


async def test_a_server_that_a_cluster_is_looked_at_through_is_asked_by_our_own_tools(told):
    states = await told(cluster_servers={"west": "shop"})
    assert states["shop.look"] == "through k8s"
    assert states["k8s.get"] == "offered"


async def test_a_server_that_is_away_says_why(told, shop):
    shop.refusals.append(LostError("the wire is cut"))
    assert "the wire is cut" in (await told())["shop.*"]


async def test_an_agent_that_does_not_answer_is_away(told):
    agent = {"url": "http://127.0.0.1:9", "private": True}
    states = await told(external_agents={"helper": agent})
    assert states["helper.*"].startswith("away: ")
