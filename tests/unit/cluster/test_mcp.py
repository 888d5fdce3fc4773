"""A cluster behind an MCP server: what it does not show is never taken for not there."""

import pytest

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.mcp import McpCluster
from tocsin_cluster.port import EVERYWHERE
from tocsin_contracts import ObjectRef
from tocsin_kit.errors import TransientError
from tocsin_mcp.port import CallAnswer

POD = ObjectRef(kind="Pod", namespace="shop", name="web-1")


def raw(kind, name, namespace="shop", **more):
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"kind": kind, "metadata": metadata, **more}


def event(reason, name="web-1", at=None, **about):
    involved = {"kind": "Pod", "name": name, "namespace": "shop", **about}
    return raw("Event", reason, reason=reason, involvedObject=involved, lastTimestamp=at)


class Tools:
    """Answers by tool, kind and namespace; what is not known is an error of the server."""

    def __init__(self, **answers):
        self.answers = answers
        self.asked = []

    async def call(self, tool, arguments):
        self.asked.append((tool, arguments))
        key = f"{arguments.get('kind', 'log')}_{arguments.get('namespace', '')}".rstrip("_")
        answer = self.answers.get(key, "forbidden")
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, list):
            return CallAnswer(text="…", structured={"items": answer})
        if isinstance(answer, dict):
            return CallAnswer(text="…", structured=answer)
        return CallAnswer(text=answer, is_error=tool != "pods_log" or "not found" in answer)


def cluster(**answers):
    tools = Tools(**answers)
    return McpCluster("kubernetes", tools.call), tools


async def test_an_object_is_asked_for_in_its_own_version_and_namespace():
    seen, tools = cluster(Deployment_shop=raw("Deployment", "web"))
    ref = ObjectRef(kind="Deployment", namespace="shop", name="web")
    assert (await seen.get(ref)).ref == ref
    assert tools.asked == [
        (
            "resources_get",
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "shop"},
        )
    ]


async def test_only_what_the_server_says_is_not_there_is_not_there():
    seen, _ = cluster(Pod_shop='failed to get resource: pods "web-1" not found')
    assert await seen.get(POD) is None


@pytest.mark.parametrize(
    "answer",
    [
        'pods "web-1" is forbidden',
        "the server could not find the requested resource",
        'no matches for kind "Pod" in version "v1"',
        TransientError("the server is away"),
    ],
)
async def test_what_cannot_be_seen_is_an_error(answer):
    seen, _ = cluster(Pod_shop=answer)
    with pytest.raises(ClusterError, match="mcp:kubernetes"):
        await seen.get(POD)


@pytest.mark.parametrize("kind", ["Secret", "Role", "ClusterRoleBinding", "Whatever"])
async def test_secrets_and_rights_are_not_even_asked_for(kind):
    seen, tools = cluster()
    with pytest.raises(ClusterError, match=kind):
        await seen.list(kind, "shop")
    assert tools.asked == []


async def test_objects_are_chosen_by_labels_and_stand_in_order():
    pods = [raw("Pod", "b"), raw("Pod", "a"), raw("Pod", "c")]
    for pod in pods[:2]:
        pod["metadata"]["labels"] = {"app": "web", "tier": "1"}
    seen, _ = cluster(Pod_shop=pods)
    assert [one.ref.name for one in await seen.list("Pod", "shop", {"app": "web"})] == ["a", "b"]


async def test_an_empty_namespace_is_empty_and_an_empty_cluster_is_unknown():
    seen, _ = cluster(Pod_shop=[], Node=[])
    assert await seen.list("Pod", "shop") == ()
    with pytest.raises(ClusterError, match="may not be allowed"):
        await seen.list("Node", "")
    with pytest.raises(ClusterError, match="name it"):
        await seen.list("Pod", "")


async def test_all_namespaces_are_asked_one_by_one_and_none_may_be_missing():
    spaces = [raw("Namespace", name, "") for name in ("shop", "ledger")]
    pods = {"Pod_shop": [raw("Pod", "web")], "Pod_ledger": [raw("Pod", "app", "ledger")]}
    seen, tools = cluster(Namespace=spaces, **pods)
    assert [one.ref.name for one in await seen.list("Pod", EVERYWHERE)] == ["app", "web"]
    assert [asked.get("namespace") for _, asked in tools.asked] == [None, "shop", "ledger"]
    seen, _ = cluster(Namespace=spaces, Pod_shop=[])
    with pytest.raises(ClusterError):
        await seen.list("Pod", EVERYWHERE)
    seen, _ = cluster(Namespace=[])
    with pytest.raises(ClusterError):
        await seen.list("Pod", EVERYWHERE)


async def test_events_are_those_of_the_object_the_oldest_first():
    told = [
        event("Later", at="2026-11-27T09:05:00Z"),
        event("Undated"),
        event("Other", name="web-2", at="2026-11-27T09:01:00Z"),
        event("Sooner", at="2026-11-27T09:00:00Z"),
    ]
    seen, _ = cluster(Event_shop=told)
    assert [one.reason for one in await seen.events(POD)] == ["Undated", "Sooner", "Later"]
    assert len(await seen.events_in("shop")) == 4


@pytest.mark.parametrize(
    ("said", "log"),
    [
        ("a\nb\n", "a\nb\n"),
        ("The pod web-1 in namespace shop has not logged any message yet", ""),
        ('previous terminated container "web" in pod "web-1" not found', None),
        ('failed to get pod web-1 log in namespace shop: pods "web-1" not found', None),
    ],
)
async def test_a_log_is_its_text_and_none_when_none_is_kept(said, log):
    seen, _ = cluster(log_shop=said)
    assert await seen.logs("shop", "web-1", "web", previous=True) == log


async def test_an_answer_that_was_too_long_is_no_object():
    async def call(tool, arguments):
        return CallAnswer(text="half of it", truncated=True)

    with pytest.raises(ClusterError, match="too long"):
        await McpCluster("kubernetes", call).get(POD)
