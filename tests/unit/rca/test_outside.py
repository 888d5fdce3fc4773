"""What is beside our own tools: by which name it is asked, and what of it models do not get."""

import asyncio
import json

import pytest

from tocsin_agents.tools.modes import Mode
from tocsin_agents.tools.port import Identity, ToolContext
from tocsin_cluster import connecting
from tocsin_kit.errors import PermanentError
from tocsin_kit.redaction import Redactor
from tocsin_mcp.errors import LostError
from tocsin_mcp.pins import Pins
from tocsin_mcp.servers import Servers
from tocsin_rca import app, tools
from tocsin_rca.settings import Settings
from tocsin_rca.tools import outside
from tocsin_testing.mcp import FakeServer, listed, server

AGENT = {"url": "https://agents.example/k8s", "token": "t-secret", "capability": "read"}


@pytest.fixture
def connect(tmp_path):
    """Make servers by name, all of them the same one."""

    def make(*names, shop=None):
        pins = Pins(tmp_path / "pins.json", trust_first=True)
        shop = shop or FakeServer(listed("look"))
        return Servers([server(name) for name in names], pins, connect=shop.connect)

    return make


@pytest.fixture
def settings(tmp_path):
    gitops = tmp_path / "gitops.yaml"
    gitops.write_text("repositories: []\n")
    nowhere = tmp_path / "nowhere"
    return lambda **given: Settings(gitops_file=gitops, cluster_snapshot=nowhere, **given)


def test_a_living_cluster_needs_no_recording(settings, connect):
    world = app.world(settings(cluster_servers={"west": "kubernetes"}), connect("kubernetes"))
    assert world.clusters.named("west").source == "mcp:kubernetes"
    assert world.clusters.named("").source == "mcp:kubernetes"


def test_other_clusters_may_be_recorded(settings, connect, tmp_path):
    recorded = tmp_path / "snapshots" / "east"
    recorded.mkdir(parents=True)
    (recorded / "all.yaml").write_text("kind: Node\nmetadata: {name: n1}\n")
    given = settings(
        cluster_servers={"west": "kubernetes"}, cluster_snapshots=tmp_path / "snapshots"
    )
    clusters = app.world(given, connect("kubernetes")).clusters
    assert clusters.named("west").source == "mcp:kubernetes"
    assert clusters.named("east").source == "snapshot"


async def test_a_server_has_the_seconds_that_its_operator_gave_it(settings, connect, monkeypatch):
    monkeypatch.setattr(tools, "CALL_SECONDS", 0.01)
    shop = FakeServer(listed("look"))
    async with connect("shop", shop=shop) as servers:
        catalogue = tools.catalogue(outside.toolsets(settings(), servers), Mode.ASK, Redactor())
        shop.awake.clear()
        asyncio.get_running_loop().call_later(0.1, shop.awake.set)
        answer = await catalogue.call("shop.look", {}, ToolContext(Identity("ada")))
    assert answer.data == "look done"


def test_a_cluster_whose_server_there_is_not_stops_the_start(settings, connect):
    given = settings(cluster_servers={"west": "kubernetes"})
    with pytest.raises(PermanentError, match=r"'west'.*'kubernetes'.*known: shop"):
        app.world(given, connect("shop"))


async def test_models_get_the_tools_of_servers_and_agents_but_not_those_behind_a_cluster(
    settings, connect
):
    given = settings(cluster_servers={"west": "kubernetes"}, external_agents={"helper": AGENT})
    async with connect("kubernetes", "shop") as servers:
        found = outside.toolsets(given, servers)
        assert [one.name for one in found] == ["shop", "helper"]
        (look,) = await found[0].tools(Identity("a"))
    assert look.spec.name == "shop.look"


async def test_a_server_that_is_away_is_a_notice_for_operators(connect):
    shop = FakeServer(listed("look"))
    shop.refusals.append(LostError("the wire is cut"))
    async with connect("shop", shop=shop) as servers:
        assert connecting.notice(servers) == "MCP server 'shop' is away: the wire is cut"
    assert connecting.notice(connect()) == ""


def test_servers_and_agents_are_read_from_the_environment(monkeypatch, tmp_path):
    file = tmp_path / "servers.yaml"
    entry = {"transport": "stdio", "command": "shop", "allow": ["*"]}
    file.write_text(json.dumps({"servers": {"shop": entry}}))
    monkeypatch.setenv("TOCSIN_MCP_SERVERS", str(file))
    monkeypatch.setenv("TOCSIN_EXTERNAL_AGENTS", json.dumps({"helper": AGENT}))
    settings = Settings.load()
    assert list(connecting.servers(settings).sessions) == ["shop"]
    assert "t-secret" not in repr(settings)
