from datetime import UTC, datetime

from tocsin_contracts import EvidenceKind

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NUMBER = "deployment.kubernetes.io/revision"


def kept(scene, number, at, *, image="reg.example/shop/web:1", env="a", owner="web", **more):
    container = scene.container | {"image": image, "env": [{"name": "KEY", "value": env}]}
    labels = scene.labels | {"pod-template-hash": f"h{number}"}
    scene.add(
        "ReplicaSet",
        f"{owner}-{number}",
        {"template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}},
        creationTimestamp=at,
        annotations={NUMBER: str(number)} | more,
        ownerReferences=[{"kind": "Deployment", "name": owner, "controller": True}],
    )


async def told(scene, start=START):
    alert = scene.alert().model_copy(update={"starts_at": start})
    seen = (await scene.case(alert)).rollouts
    assert {one.evidence.kind for one in seen} <= {EvidenceKind.ROLLOUT}
    return [one.evidence.excerpt for one in seen]


async def test_a_revision_says_when_it_began_and_what_it_changed(scene):
    scene.deployment()
    kept(scene, 9, "2026-03-01T09:00:00Z")
    kept(scene, 10, "2026-03-02T08:48:00Z", image="reg.example/shop/web:2")
    assert await told(scene) == [
        "revision 10 of Deployment shop/web began at 2026-03-02T08:48:00+00:00,"
        " 12 min before the alert began\n"
        "it is the latest\n"
        "  Deployment shop/web spec.template.spec.containers[name=app].image:"
        " 'reg.example/shop/web:1' -> 'reg.example/shop/web:2'",
        "revision 9 of Deployment shop/web began at 2026-03-01T09:00:00+00:00,"
        " 24 h before the alert began",
    ]


async def test_a_value_that_may_be_a_secret_is_not_shown(scene):
    scene.deployment()
    kept(scene, 1, "2026-03-01T09:00:00Z")
    kept(scene, 2, "2026-03-02T08:48:00Z", env="hunter2")
    text = "\n".join(await told(scene))
    assert "[name=KEY].value changed" in text
    assert "hunter2" not in text


async def test_only_the_last_revisions_of_this_workload_are_told(scene):
    scene.deployment()
    for number in range(1, 9):
        kept(scene, number, f"2026-03-0{number}T09:00:00Z", image=f"reg.example/shop/web:{number}")
    kept(scene, 99, "2026-03-02T08:59:00Z", owner="api")
    found = await told(scene)
    assert [text.split()[1] for text in found] == ["8", "7", "6", "5", "4"]
    assert all("image: " in text for text in found)


async def test_a_revision_that_was_brought_back_began_when_the_deployment_moved(scene):
    scene.deployment()
    scene.objects[-1]["status"] = {
        "conditions": [{"type": "Progressing", "lastUpdateTime": "2026-03-02T08:59:30Z"}]
    }
    earlier = {f"{NUMBER}-history": "1"}
    kept(scene, 2, "2026-03-02T08:00:00Z", image="reg.example/shop/web:2")
    kept(scene, 3, "2026-01-01T08:00:00Z", **earlier)
    latest, _ = await told(scene)
    assert latest.startswith(
        "revision 3 of Deployment shop/web was brought back at 2026-03-02T08:59:30+00:00,"
        " in the minute the alert began"
    )


async def test_what_the_cluster_does_not_tell_is_not_made_up(scene):
    scene.deployment()
    kept(scene, 1, None)
    kept(scene, "two", "2026-03-02T08:00:00Z")
    assert await told(scene, start=None) == [
        "revision 1 of Deployment shop/web began, nobody knows when\nit is the latest"
    ]


async def test_a_stateful_set_keeps_its_revisions_elsewhere(scene):
    scene.add("StatefulSet", "web", {"template": {"spec": {"containers": [scene.container]}}})
    for number, image in enumerate(("web:1", "web:2"), start=1):
        scene.add(
            "ControllerRevision",
            f"web-{number}",
            creationTimestamp=f"2026-03-02T0{number}:00:00Z",
            ownerReferences=[{"kind": "StatefulSet", "name": "web", "controller": True}],
        )
        template = {"spec": {"containers": [{"name": "app", "image": image}]}}
        scene.objects[-1] |= {"revision": number, "data": {"spec": {"template": template}}}
    alert = scene.alert(kind="StatefulSet").model_copy(update={"starts_at": START})
    latest, first = (await scene.case(alert)).rollouts
    assert (latest.data.latest, first.data.latest) == (True, False)
    assert [(field.before, field.after) for field in latest.data.changed] == [("web:1", "web:2")]
    assert latest.data.changed[0].path[:2] == ("spec", "template")


async def test_a_commit_says_how_far_from_the_alert_it_was_made(scene):
    scene.deployment()
    scene.commit(("spec", "replicas"), 1, 2)
    alert = scene.alert().model_copy(update={"starts_at": START})
    (commit,) = (
        seen.evidence
        for seen in (await scene.case(alert)).observations
        if seen.evidence.kind is EvidenceKind.COMMIT
    )
    assert "in web.yaml, 1 h before the alert began\n" in commit.excerpt
