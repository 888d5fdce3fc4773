import pytest

from tocsin_contracts import AlertStatus
from tocsin_rca.analyzers.oom_limit import OomLimit
from tocsin_rca.evidence.growth import only_grows

LIMIT = ("spec", "template", "spec", "containers", "[name=app]", "resources", "limits", "memory")


def killed(reason="OOMKilled", code=137, start="2026-03-02T08:58:00Z", end="2026-03-02T08:59:00Z"):
    ending = {"reason": reason, "exitCode": code, "startedAt": start, "finishedAt": end}
    waiting = {"waiting": {"reason": "CrashLoopBackOff"}}
    return {
        "ready": False,
        "restartCount": 4,
        "state": waiting,
        "lastState": {"terminated": ending},
    }


def limited(scene, limit="128Mi"):
    scene.container["resources"] = {"limits": {"memory": limit}}
    scene.deployment()


async def only_finding(scene):
    (finding,) = OomLimit().analyze(await scene.case())
    return finding


@pytest.mark.parametrize(
    ("limit", "new"),
    [("128Mi", "256Mi"), ("100Mi", "256Mi"), ("512M", "1Gi"), ("1Gi", "2Gi"), ("300Mi", "768Mi")],
)
async def test_without_a_commit_the_limit_goes_to_the_next_usual_size(scene, limit, new):
    limited(scene, limit)
    scene.pod(**killed())
    finding = await only_finding(scene)
    assert (finding.change.old, finding.change.new) == (limit, new)
    assert finding.change.path == LIMIT
    assert finding.confidence >= 0.9


async def test_a_commit_that_lowered_the_limit_is_undone(scene):
    limited(scene)
    scene.pod(**killed())
    scene.commit(LIMIT, "640Mi", "128Mi")
    finding = await only_finding(scene)
    assert finding.change.new == "640Mi"
    assert "undoes" in finding.because
    assert finding.confidence == 0.97


async def test_a_commit_is_recognised_however_the_size_is_written(scene):
    limited(scene, "1Gi")
    scene.pod(**killed())
    scene.commit(LIMIT, "3Gi", "1024Mi")
    finding = await only_finding(scene)
    assert (finding.change.old, finding.change.new) == ("1024Mi", "3Gi")


async def test_a_commit_that_raised_the_limit_is_not_undone(scene):
    limited(scene)
    scene.pod(**killed())
    scene.commit(LIMIT, "64Mi", "128Mi")
    assert (await only_finding(scene)).change.new == "256Mi"


async def test_a_kill_is_recognised_by_an_event_too(scene):
    limited(scene)
    scene.pod(**killed(reason="Error"))
    scene.event("OOMKilling", "Memory cgroup out of memory: Killed process 4711 (java)")
    assert (await only_finding(scene)).change.new == "256Mi"


async def test_a_signal_alone_is_no_kill_for_memory(scene):
    limited(scene)
    scene.pod(**killed(reason="Error"))
    assert OomLimit().analyze(await scene.case()) == ()


async def test_a_container_without_a_limit_cannot_have_met_it(scene):
    scene.deployment()
    scene.pod(**killed())
    assert OomLimit().analyze(await scene.case()) == ()


async def test_a_limit_that_the_workload_does_not_declare_is_not_changed(scene):
    scene.deployment()
    scene.pod(container={"resources": {"limits": {"memory": "64Mi"}}}, **killed())
    finding = await only_finding(scene)
    assert finding.change is None
    assert "LimitRange" in finding.because


@pytest.mark.parametrize("sign", ["event", "condition", "eviction"])
async def test_a_node_without_memory_is_another_story(scene, sign):
    limited(scene)
    scene.pod(**killed())
    if sign == "event":
        scene.event("SystemOOM", "System OOM encountered, victim process: java", "n1", "Node")
    if sign == "condition":
        scene.add(
            "Node", "n1", None, {"conditions": [{"type": "MemoryPressure", "status": "True"}]}
        )
    if sign == "eviction":
        scene.pod("web-1-b", phase="Failed", ready=False)
        scene.objects[-1]["status"]["reason"] = "Evicted"
    finding = await only_finding(scene)
    assert finding.confidence < 0.6
    assert "node itself ran out of memory" in finding.because


async def test_a_pod_that_the_node_evicted_was_not_killed_at_its_limit(scene):
    limited(scene)
    scene.pod(phase="Failed", ready=False)
    scene.objects[-1]["status"] |= {
        "reason": "Evicted",
        "message": "The node was low on resource: memory. Threshold quantity: 100Mi.",
    }
    scene.event("Evicted", "The node was low on resource: memory.")
    assert OomLimit().analyze(await scene.case()) == ()


async def test_memory_that_only_grows_is_not_cured_by_a_limit(scene):
    limited(scene)
    scene.pod(**killed())
    scene.log("".join(f"heap used: {size}MB\n" for size in (20, 40, 70, 90, 110, 127)))
    finding = await only_finding(scene)
    assert finding.confidence < 0.6
    assert "only ever grows" in finding.because


async def test_a_container_that_ran_for_hours_is_less_certain(scene):
    limited(scene)
    scene.pod(**killed(start="2026-03-01T09:00:00Z"))
    assert 0.6 <= (await only_finding(scene)).confidence < 0.9


async def test_a_kill_long_ago_explains_no_alert_of_today(scene):
    limited(scene)
    scene.pod(**killed(end="2026-02-20T09:00:00Z") | {"ready": True, "state": {"running": {}}})
    scene.event("Unrelated", "today")
    assert (await only_finding(scene)).confidence < 0.6


async def test_a_limit_that_has_been_raised_since_is_not_raised_again(scene):
    limited(scene, "512Mi")
    scene.pod(container={"resources": {"limits": {"memory": "128Mi"}}}, **killed())
    assert (await only_finding(scene)).confidence < 0.6


async def test_several_pods_are_one_finding(scene):
    limited(scene)
    scene.pod("web-1-a", **killed())
    scene.pod("web-1-b", **killed())
    finding = await only_finding(scene)
    assert "in 2 of 2 pods (8 restarts)" in finding.summary
    assert len(finding.evidence) == 3


@pytest.mark.parametrize(
    ("log", "grows"),
    [
        ("rss=100MB\nrss=200MB\nrss=300MB\nrss=400MB\nrss=500MB\n", True),
        ("heap 0.5 GB\nheap 700 MB\nheap 900 MB\nheap 1.2 GB\nheap 1.6 GB\n", True),
        ("rss=100MB\nrss=200MB\nrss=150MB\nrss=400MB\nrss=500MB\n", False),
        ("rss=100MB\nrss=101MB\nrss=102MB\nrss=103MB\nrss=104MB\n", False),
        ("request took 100 ms\nrequest took 200 ms\n", False),
        ("", False),
    ],
)
def test_growth_is_a_series_that_doubles_without_a_step_down(log, grows):
    assert only_grows(log) is grows


async def test_one_kill_that_is_over_changes_nothing(scene):
    limited(scene)
    scene.pod(**killed() | {"ready": True, "restartCount": 1, "state": {"running": {}}})
    case = await scene.case(scene.alert().model_copy(update={"status": AlertStatus.RESOLVED}))
    (finding,) = OomLimit().analyze(case)
    assert finding.confidence < 0.6
