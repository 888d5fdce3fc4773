"""What was brought into a namespace near an alert, and how what brings it stands."""

from datetime import UTC, datetime

import pytest

from tocsin_agents.tools.port import Identity, Status, ToolContext
from tocsin_cluster.errors import ClusterError
from tocsin_cluster.fleet import Fleet, Member
from tocsin_rca.tools.delivery import DeliveryTools

NOW = datetime(2026, 3, 2, 9, 22, tzinfo=UTC)
BEGAN = "2026-03-02T09:00:00Z"
ADA = Identity("ada")
OWNER = [{"kind": "Deployment", "name": "web", "controller": True}]


def at(time):
    return f"2026-03-02T{time}:00Z"


def template(image, password):
    env = [{"name": "PASSWORD", "value": password}]
    return {"spec": {"containers": [{"name": "app", "image": image, "env": env}]}}


@pytest.fixture
def shop(scene):
    """A Deployment of Helm with two revisions, an Application, and what Flux has."""
    helm = {"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "web-1.4.0"}
    scene.add(
        "Deployment",
        "web",
        {"template": template("web:2", "tulip-2")},
        labels={**helm, "kustomize.toolkit.fluxcd.io/name": "apps"}
        | {"kustomize.toolkit.fluxcd.io/namespace": "flux-system"},
        annotations={"meta.helm.sh/release-name": "shop-web"},
    )
    for number, time in ((1, "01:00"), (2, "08:48")):
        scene.add(
            "ReplicaSet",
            f"web-{number}",
            {"template": template(f"web:{number}", f"tulip-{number}")},
            ownerReferences=OWNER,
            creationTimestamp=at(time),
            annotations={"deployment.kubernetes.io/revision": str(number)},
        )
    return scene


def add(scene, kind, name, namespace, **parts):
    scene.add(kind, name, **parts)
    scene.objects[-1]["metadata"]["namespace"] = namespace


@pytest.fixture
def deployed(shop):
    """The same, with what Argo CD and Flux say."""
    sync = {"status": "OutOfSync", "revision": "b" * 40}
    failed = {"phase": "Failed", "message": "one or more objects failed\nto apply"}
    history = [
        {"deployedAt": at("08:45"), "revision": "a" * 40, "source": {"path": "apps/web"}},
        {"deployedAt": at("09:05"), "revision": "b" * 40, "source": {"path": "apps/web"}},
        {"deployedAt": "soon", "revision": "c" * 40},
    ]
    status = {"health": {"status": "Degraded"}, "sync": sync, "history": history}
    for name, home, goes_to in (
        ("web", "argocd", "shop"),
        ("other", "argocd", "billing"),
        ("forged", "shop", "shop"),
    ):
        spec = {"destination": {"namespace": goes_to}}
        given = status | {"operationState": failed}
        add(shop, "Application", name, home, spec=spec, status=given)
    ready = {"type": "Ready", "status": "True", "reason": "ReconciliationSucceeded"}
    applied = {
        "lastAppliedRevision": "main@sha1:abc",
        "conditions": [ready | {"lastTransitionTime": at("08:50")}],
    }
    add(shop, "Kustomization", "apps", "flux-system", status=applied)
    add(shop, "Kustomization", "stranger", "flux-system", status=applied)
    released = {
        "history": [
            {
                "version": 7,
                "chartName": "redis",
                "chartVersion": "18.1.0",
                "status": "failed",
                "lastDeployed": at("08:59"),
            }
        ],
        "conditions": [{"type": "Ready", "status": "False", "message": "upgrade timed out"}],
    }
    shop.add("HelmRelease", "redis", {"suspend": True}, released)
    return shop


async def ask(name, *clusters, **arguments):
    members = [Member(f"c{number}", one) for number, one in enumerate(clusters)]
    fleet = Fleet(members, lambda: NOW, seconds=5)
    tools = await DeliveryTools(fleet, ["argocd"]).toolset().tools(ADA)
    (tool,) = (tool for tool in tools if tool.spec.name == f"delivery.{name}")
    context = ToolContext(ADA, clusters=await fleet.look())
    return await tool.call({"namespace": "shop"} | arguments, context)


async def test_what_was_brought_near_the_alert_is_told_the_newest_first(deployed):
    answer = (await ask("recent", deployed.cluster(), began=BEGAN)).data
    assert answer["said"] == ("4 deliveries before the alert began, 1 in the 15 minutes after.")
    rows = [(one["by"], one["object"], one["when"]) for one in answer["deliveries"]]
    assert rows == [
        ("Argo CD", "Application argocd/web", "5 min after the alert began"),
        ("Flux", "HelmRelease shop/redis", "1 min before the alert began"),
        ("Flux", "Kustomization flux-system/apps", "10 min before the alert began"),
        ("Kubernetes", "Deployment shop/web", "12 min before the alert began"),
        ("Argo CD", "Application argocd/web", "15 min before the alert began"),
    ]
    assert [one["what"] for one in answer["deliveries"][:3]] == [
        f"revision {'b' * 40} of apps/web",
        "release 7 of chart redis 18.1.0, failed",
        "ReconciliationSucceeded; main@sha1:abc is applied",
    ]


async def test_a_revision_says_what_it_changed_without_what_may_be_secret(shop):
    (row,) = (await ask("recent", shop.cluster(), began=BEGAN)).data["deliveries"]
    assert row["what"].startswith("revision 2; ")
    assert "web:1" in row["what"]
    assert "web:2" in row["what"]
    assert "[name=PASSWORD].value changed" in row["what"]
    assert "tulip" not in str(row)


async def test_only_the_time_that_is_asked_for_is_looked_at(shop):
    answer = (await ask("recent", shop.cluster(), began=BEGAN, minutes=5)).data
    assert answer["said"].startswith("0 deliveries before")
    longer = (await ask("recent", shop.cluster(), began=BEGAN, minutes=600)).data
    assert len(longer["deliveries"]) == 2


async def test_how_everything_stands_is_told_trouble_first(deployed):
    answer = (await ask("state", deployed.cluster())).data
    assert answer["said"] == "4 things deliver into it, 2 not as it should."
    assert answer["standing"] == [
        {
            "by": "Argo CD",
            "object": "Application argocd/web",
            "state": "Degraded, OutOfSync",
            "revision": "b" * 40,
            "why": "one or more objects failed to apply",
        },
        {
            "by": "Flux",
            "object": "HelmRelease shop/redis",
            "state": "not ready, suspended",
            "revision": "18.1.0",
            "why": "upgrade timed out",
        },
        {
            "by": "Flux",
            "object": "Kustomization flux-system/apps",
            "state": "ready",
            "revision": "main@sha1:abc",
        },
        {
            "by": "Helm",
            "object": "release shop-web",
            "state": "installed",
            "revision": "web-1.4.0",
        },
    ]


class Without:
    """A cluster that refuses some kinds, or all."""

    def __init__(self, cluster, *kinds):
        self._cluster, self._kinds = cluster, kinds
        self.source, self.recorded_at = "kubernetes", None

    async def list(self, kind, namespace, labels=None):
        if kind in self._kinds:
            raise ClusterError(f"{kind} is forbidden")
        return await self._cluster.list(kind, namespace, labels)


async def test_what_a_cluster_does_not_show_is_said_and_hides_nothing_else(shop):
    less = Without(shop.cluster(), "Application", "HelmRelease", "Kustomization")
    answer = (await ask("recent", less, began=BEGAN)).data
    assert len(answer["deliveries"]) == 1
    assert answer["not_seen"] == [
        "Application: Application is forbidden",
        "Kustomization: Kustomization is forbidden",
        "HelmRelease: HelmRelease is forbidden",
    ]


@pytest.mark.parametrize("began", ["2026-03-02T09:00:00", "yesterday", ""])
async def test_a_time_without_a_zone_is_no_time(shop, began):
    assert (await ask("recent", shop.cluster(), began=began)).status is Status.ERROR


async def test_each_of_many_clusters_answers_for_itself(shop):
    cluster = shop.cluster()
    answer = (await ask("state", cluster, cluster)).data
    assert set(answer["clusters"]) == {"c0", "c1"}
