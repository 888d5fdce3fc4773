"""Which other values a change could have had, and why it has not."""

from tocsin_contracts import Considered, ObjectRef
from tocsin_rca.analyzers import analyze
from tocsin_rca.analyzers.oom_limit import OomLimit
from tocsin_rca.analyzers.probe_port import ProbePort
from tocsin_rca.evidence.considering import considered
from tocsin_testing import build

APP = ("spec", "template", "spec", "containers", "[name=app]")
LIMIT = (*APP, "resources", "limits", "memory")
REFUSED = "dial tcp 10.1.2.3:8081: connect: connection refused"
LOOPING = {"ready": False, "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
KILLED = LOOPING | {"lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}


async def told(scene, analyzer) -> dict[str, str]:
    (finding,) = analyze(await scene.case(), [analyzer()])
    assert all(isinstance(one, Considered) for one in finding.considered)
    return {one.what: one.why_not for one in finding.considered}


def limited(scene, limit="128Mi"):
    scene.container["resources"] = {"limits": {"memory": limit}}
    scene.deployment()
    scene.pod(**KILLED)


async def test_where_a_commit_is_undone_the_usual_size_is_told(scene):
    limited(scene)
    scene.commit(LIMIT, "640Mi", "128Mi")
    assert (await told(scene, OomLimit)).keys() == {"256Mi"}


async def test_where_the_usual_size_is_taken_a_larger_one_and_the_value_before_are_told(scene):
    limited(scene)
    scene.commit(LIMIT, "64Mi", "128Mi")
    found = await told(scene, OomLimit)
    assert found.keys() == {"64Mi", "512Mi"}
    assert "speaks for 256Mi" in found["64Mi"]
    assert "256Mi is seen to be too little" in found["512Mi"]


async def test_values_from_before_the_one_that_comes_back_are_older(scene):
    limited(scene)
    scene.commit(LIMIT, "640Mi", "128Mi")
    scene.commit(LIMIT, "512Mi", "640Mi")
    assert "640Mi came after it" in (await told(scene, OomLimit))["512Mi"]


async def test_a_probe_could_ask_the_other_ports_that_the_container_declares(scene):
    ports = [{"containerPort": port} for port in (8080, 9090)]
    probes = {
        f"{name}Probe": {"httpGet": {"path": "/", "port": port}}
        for name, port in (("liveness", 8081), ("readiness", 8080))
    }
    scene.container |= {"ports": ports, **probes}
    scene.deployment()
    scene.pod(ready=True, restartCount=0, state={"running": {}})
    scene.event("Unhealthy", f'Liveness probe failed: Get "http://10.1.2.3:8081/": {REFUSED}')
    found = await told(scene, ProbePort)
    assert found.keys() == {"9090"}
    assert "declares it too" in found["9090"]


WEB = ObjectRef(kind="Deployment", namespace="shop", name="web")


async def test_what_programs_were_told_before_is_not_repeated(scene):
    path = (*APP, "env", "[name=PASSWORD]", "value")
    scene.deployment()
    scene.commit(path, "canary", "changed")
    change = build.field_change(object=WEB, path=path, old="changed", new="better")
    finding = considered(await scene.case(), build.finding(object=WEB, change=change))
    assert finding.considered == ()


async def test_a_finding_without_a_change_stays_as_it_is(scene):
    finding = build.finding(change=None)
    assert considered(await scene.case(), finding) == finding
