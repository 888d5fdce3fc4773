"""What an investigation may ask clusters by itself."""

from datetime import UTC, datetime

import pytest

from tocsin_agents.tools.port import Identity, Status, ToolContext
from tocsin_cluster.fleet import Fleet, Member
from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ClusterContext
from tocsin_kit.errors import TransientError
from tocsin_rca.tools.cluster import MOST_EVENTS, MOST_OBJECTS, ClusterTools

NOW = datetime(2026, 3, 2, 9, 22, tzinfo=UTC)
ADA = Identity("ada")


@pytest.fixture
def shop(scene):
    """A Deployment, a pod in trouble with its events and its logs, a Secret and a ConfigMap."""
    scene.container |= {"env": [{"name": "PASSWORD", "value": "tulip-7731"}]}
    scene.deployment()
    state = {"waiting": {"reason": "CrashLoopBackOff"}}
    scene.pod(ready=False, restartCount=4, state=state)
    scene.event("BackOff", "Back-off restarting failed container")
    scene.log("started\npanic: no config\n")
    for kind in ("Secret", "ConfigMap"):
        scene.add(kind, "web")
        scene.objects[-1] |= {"data": {"password": "tulip-7731"}}
    return scene


class Tools:
    """The tools of some clusters, as a model calls them."""

    def __init__(self, **clusters):
        members = [Member(name, cluster) for name, cluster in clusters.items()]
        self.fleet = Fleet(members, lambda: NOW, seconds=5)
        self.heard = []

    async def __call__(self, tool_name, /, **arguments):
        async def hear(text):
            self.heard.append(text)

        tools = await ClusterTools(self.fleet).toolset().tools(ADA)
        (tool,) = (tool for tool in tools if tool.spec.name == tool_name)
        context = ToolContext(ADA, clusters=await self.fleet.look(), progress=hear)
        return await tool.call(arguments, context)


async def test_an_object_is_shown_without_what_may_be_secret(shop):
    result = await Tools(west=shop.cluster())(
        "k8s.get", kind="Pod", name="web-1-a", namespace="shop"
    )
    assert result.data["exists"]
    assert "CrashLoopBackOff" in result.data["object"]
    assert "tulip" not in str(result)


async def test_an_object_that_was_read_from_a_table_is_said_to_be_partial():
    class Table(Away):
        async def get(self, ref):
            return Manifest({"kind": "Pod", "metadata": {"name": "a"}}, whole=False)

    result = await Tools(west=Table(None))("k8s.get", kind="Pod", name="a", namespace="shop")
    assert result.data["partial"]


async def test_an_object_that_does_not_exist_is_no_error(shop):
    result = await Tools(west=shop.cluster())("k8s.get", kind="Pod", name="no", namespace="shop")
    assert (result.status, result.data) == (Status.OK, {"exists": False})


@pytest.mark.parametrize("tool", ["k8s.get", "k8s.list", "k8s.events"])
@pytest.mark.parametrize("kind", ["Secret", "secrets", " SECRET ", "Secret.v1", "SecretList"])
async def test_secrets_are_never_read_however_they_are_spelled(shop, tool, kind):
    name = {} if tool == "k8s.list" else {"name": "web"}
    result = await Tools(west=shop.cluster())(tool, kind=kind, namespace="shop", **name)
    assert result.status is Status.ERROR
    assert "Secrets are never read" in result.error


async def test_of_a_config_map_no_value_is_shown(shop):
    tools = Tools(west=shop.cluster())
    shown = await tools("k8s.get", kind="ConfigMap", name="web", namespace="shop")
    assert shown.data["exists"]
    assert "tulip" not in str(shown)


async def test_a_list_says_how_each_is(shop):
    result = await Tools(west=shop.cluster())(
        "k8s.list", kind="Pod", namespace="shop", labels={"app": "web"}
    )
    (pod,) = result.data["objects"]
    assert pod["name"] == "web-1-a"
    assert pod["containers"] == ["app: not ready, waiting (CrashLoopBackOff), 4 restarts"]
    none = await Tools(west=shop.cluster())(
        "k8s.list", kind="Pod", namespace="shop", labels={"app": "db"}
    )
    assert none.data == {"objects": [], "left_out": 0}


async def test_a_long_list_says_how_much_is_left_out(scene):
    for number in range(MOST_OBJECTS + 5):
        scene.add("Service", f"s{number}")
    result = await Tools(west=scene.cluster())("k8s.list", kind="Service", namespace="shop")
    assert (len(result.data["objects"]), result.data["left_out"]) == (MOST_OBJECTS, 5)


async def test_the_last_events_are_shown(scene):
    scene.pod()
    for number in range(MOST_EVENTS + 1):
        scene.event("BackOff", f"message {number}", at=f"2026-03-02T09:{number:02}:00Z")
    result = await Tools(west=scene.cluster())(
        "k8s.events", kind="Pod", name="web-1-a", namespace="shop"
    )
    messages = [event["message"] for event in result.data["events"]]
    assert messages == [f"message {number}" for number in range(1, MOST_EVENTS + 1)]
    assert result.data["left_out"] == 1


async def test_a_log_of_before_the_restart_is_shown_when_it_is_asked_for(shop):
    asked = {"namespace": "shop", "pod": "web-1-a", "container": "app"}
    tools = Tools(west=shop.cluster())
    assert (await tools("k8s.logs", **asked)).data == {"exists": False}
    log = await tools("k8s.logs", previous=True, **asked)
    assert log.data == {"exists": True, "log": "started\npanic: no config\n"}


async def test_a_path_is_no_name_of_a_pod(shop):
    result = await Tools(west=shop.cluster())(
        "k8s.logs", namespace="shop", pod="../..", container="app"
    )
    assert result.status is Status.ERROR


class Away:
    """A cluster that answers to a look and then no more."""

    source, recorded_at = "away", None

    def __init__(self, error):
        self.error = error

    async def list(self, kind, namespace, labels=None):
        if kind != "Node":
            raise self.error
        return ()


async def test_of_many_clusters_each_answer_has_its_name_and_one_that_is_away_is_missing(shop):
    tools = Tools(west=shop.cluster(), east=Away(TransientError("connection refused")))
    result = await tools("k8s.list", kind="Pod", namespace="shop")
    assert list(result.data["clusters"]) == ["west"]
    assert result.data["missing"] == {"east": "connection refused"}
    assert tools.heard == ["asking west, east"]


async def test_one_of_many_clusters_is_asked_by_its_name(shop):
    tools = Tools(west=shop.cluster(), east=Away(TransientError("connection refused")))
    west = await tools("k8s.list", kind="Deployment", namespace="shop", cluster="west")
    assert [one["name"] for one in west.data["objects"]] == ["web"]
    east = await tools("k8s.list", kind="Deployment", namespace="shop", cluster="east")
    assert (east.status, east.error) == (Status.ERROR, "no answer: east: connection refused")
    assert east.message == "This says nothing about health."


async def test_an_unknown_cluster_is_an_error_that_names_the_known_ones(shop):
    tools = Tools(west=shop.cluster(), east=shop.cluster())
    result = await tools("k8s.list", kind="Pod", namespace="shop", cluster="north")
    assert result.error == "no cluster 'north' is connected; there is west, east"


async def test_without_a_look_at_the_clusters_nothing_is_asked(shop):
    fleet = Fleet([Member("west", shop.cluster())], lambda: NOW)
    (get, *_) = await ClusterTools(fleet).toolset().tools(ADA)
    result = await get.call(
        {"kind": "Pod", "name": "a"}, ToolContext(ADA, clusters=ClusterContext())
    )
    assert "no cluster is connected" in result.error
