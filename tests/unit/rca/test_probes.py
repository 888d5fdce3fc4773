import pytest

from tocsin_contracts import CauseClass
from tocsin_rca.analyzers.probe_path import ProbePath
from tocsin_rca.analyzers.probe_port import ProbePort

APP = ("spec", "template", "spec", "containers", "[name=app]")
REFUSED = 'probe failed: Get "http://10.1.2.3:8081/live": dial tcp 10.1.2.3:8081: connect:'
ABSENT = "probe failed: HTTP probe failed with statuscode: 404"
READY = {"ready": True, "restartCount": 0, "state": {"running": {}}}
NOT_READY = READY | {"ready": False}
LOOPING = {"ready": False, "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}


def http(path, port):
    return {"httpGet": {"path": path, "port": port}}


def web(scene, status, ports=(8080,), **probes):
    named = [p if isinstance(p, dict) else {"containerPort": p} for p in ports]
    scene.container |= {"ports": named, **probes}
    scene.deployment()
    scene.pod(**status)


@pytest.mark.parametrize(
    ("word", "field", "cause"),
    [
        ("Liveness", "livenessProbe", CauseClass.LIVENESS_PROBE_WRONG_PORT),
        ("Readiness", "readinessProbe", CauseClass.READINESS_PROBE_WRONG_PORT),
    ],
)
async def test_a_probe_that_is_refused_goes_to_the_only_declared_port(scene, word, field, cause):
    web(scene, LOOPING, **{field: http("/live", 8081)})
    scene.event("Unhealthy", f"{word} {REFUSED} connection refused")
    (finding,) = ProbePort().analyze(await scene.case())
    assert finding.cause is cause
    assert finding.change.path == (*APP, field, "httpGet", "port")
    assert (finding.change.old, finding.change.new) == (8081, 8080)
    assert finding.confidence >= 0.9


async def test_a_named_port_that_nobody_declares_becomes_the_declared_name(scene):
    port = {"containerPort": 8080, "name": "http"}
    web(scene, LOOPING, [port], livenessProbe=http("/live", "htpp"))
    scene.event("Unhealthy", 'Liveness probe errored: strconv.Atoi: parsing "htpp": invalid syntax')
    (finding,) = ProbePort().analyze(await scene.case())
    assert (finding.change.old, finding.change.new) == ("htpp", "http")


async def test_the_other_probe_tells_which_of_several_ports_answers(scene):
    probes = {"livenessProbe": http("/live", 8081), "readinessProbe": http("/ready", 8080)}
    web(scene, READY, (8080, 9090), **probes)
    scene.event("Unhealthy", f"Liveness {REFUSED} connection refused")
    (finding,) = ProbePort().analyze(await scene.case())
    assert finding.change.new == 8080
    assert "readiness probe passes" in finding.because


async def test_a_commit_tells_which_of_several_ports_was_right(scene):
    web(scene, LOOPING, (8080, 9090), livenessProbe=http("/live", 8081))
    scene.event("Unhealthy", f"Liveness {REFUSED} connection refused")
    scene.commit((*APP, "livenessProbe", "httpGet", "port"), 9090, 8081)
    (finding,) = ProbePort().analyze(await scene.case())
    assert finding.change.new == 9090


async def test_among_several_ports_none_is_guessed(scene):
    web(scene, LOOPING, (8080, 9090), livenessProbe=http("/live", 8081))
    scene.event("Unhealthy", f"Liveness {REFUSED} connection refused")
    (finding,) = ProbePort().analyze(await scene.case())
    assert finding.change is None


@pytest.mark.parametrize("port", [8081, "live"])
async def test_a_port_that_is_declared_is_the_right_one_even_when_it_refuses(scene, port):
    web(scene, LOOPING, [{"containerPort": 8081, "name": "live"}], livenessProbe=http("/", port))
    scene.event("Unhealthy", f"Liveness {REFUSED} connection refused")
    assert ProbePort().analyze(await scene.case()) == ()


@pytest.mark.parametrize("how", ["context deadline exceeded", "i/o timeout"])
async def test_a_slow_answer_is_no_wrong_port(scene, how):
    web(scene, LOOPING, livenessProbe=http("/live", 8081))
    scene.event("Unhealthy", f"Liveness {REFUSED} {how}")
    assert ProbePort().analyze(await scene.case()) == ()


async def test_a_container_that_ends_by_itself_is_less_certain(scene):
    ended = {"lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}
    web(scene, LOOPING | ended, livenessProbe=http("/live", 8081))
    scene.event("Unhealthy", f"Liveness {REFUSED} connection refused")
    (finding,) = ProbePort().analyze(await scene.case())
    assert finding.confidence < 0.6


async def test_what_a_container_returns_when_the_kubelet_ends_it_says_nothing(scene):
    ended = {"lastState": {"terminated": {"exitCode": 2, "reason": "Error"}}}
    web(scene, LOOPING | ended, livenessProbe=http("/live", 8081))
    scene.event("Unhealthy", f"Liveness {REFUSED} connection refused")
    scene.event("Killing", "Container app failed liveness probe, will be restarted")
    (finding,) = ProbePort().analyze(await scene.case())
    assert finding.confidence >= 0.9


async def test_a_log_that_names_the_probed_port_contradicts(scene):
    web(scene, LOOPING, livenessProbe=http("/live", 8081))
    scene.event("Unhealthy", f"Liveness {REFUSED} connection refused")
    scene.log("INFO Listening on 0.0.0.0:8081\n")
    (finding,) = ProbePort().analyze(await scene.case())
    assert finding.confidence < 0.6


@pytest.mark.parametrize(
    ("line", "contradicts"),
    [
        ("listening " * 190 + "8081", True),
        ("listening " * 6400 + "8081", False),
        ("8081 listening", False),
        ("listening on 80810 and 18081", False),
        ("listening\non 8081", False),
        ("GET /a 200\n" * 1000 + "Server listens at port 8081", True),
    ],
    ids=["head", "beyond-the-head", "before", "part", "next-line", "last-line"],
)
async def test_only_the_head_of_each_line_of_a_log_is_read_for_a_port(scene, line, contradicts):
    web(scene, LOOPING, livenessProbe=http("/live", 8081))
    scene.event("Unhealthy", f"Liveness {REFUSED} connection refused")
    scene.log(line)
    (finding,) = ProbePort().analyze(await scene.case())
    assert (finding.confidence < 0.6) is contradicts


async def test_a_path_that_a_commit_changed_is_changed_back(scene):
    web(scene, NOT_READY, readinessProbe=http("/redy", 8080))
    scene.event("Unhealthy", f"Readiness {ABSENT}")
    scene.commit((*APP, "readinessProbe", "httpGet", "path"), "/ready", "/redy")
    (finding,) = ProbePath().analyze(await scene.case())
    assert finding.cause is CauseClass.READINESS_PROBE_MISCONFIGURED
    assert (finding.change.old, finding.change.new) == ("/redy", "/ready")
    assert finding.confidence >= 0.9


async def test_a_path_that_the_other_probe_proves_is_likely(scene):
    probes = {"livenessProbe": http("/live", 8080), "readinessProbe": http("/ready", 8080)}
    web(scene, READY, **probes)
    scene.event("Unhealthy", f"Liveness {ABSENT}")
    (finding,) = ProbePath().analyze(await scene.case())
    assert finding.cause is CauseClass.LIVENESS_PROBE_MISCONFIGURED
    assert finding.change.new == "/ready"
    assert 0.6 <= finding.confidence < 0.9


async def test_a_probe_of_another_port_proves_no_path(scene):
    probes = {"livenessProbe": http("/live", 8080), "readinessProbe": http("/ready", 9090)}
    web(scene, READY, (8080, 9090), **probes)
    scene.event("Unhealthy", f"Liveness {ABSENT}")
    (finding,) = ProbePath().analyze(await scene.case())
    assert finding.change is None


async def test_a_server_error_is_no_wrong_path(scene):
    web(scene, NOT_READY, readinessProbe=http("/ready", 8080))
    scene.event("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")
    assert ProbePath().analyze(await scene.case()) == ()


async def test_an_event_about_another_container_blames_no_one_else(scene):
    web(scene, NOT_READY, readinessProbe=http("/ready", 8080))
    scene.event("Unhealthy", f"Readiness {ABSENT}")
    scene.objects[-1]["involvedObject"]["fieldPath"] = "spec.containers{sidecar}"
    assert ProbePath().analyze(await scene.case()) == ()


@pytest.mark.parametrize("analyzer", [ProbePort(), ProbePath()])
async def test_what_a_pod_of_an_older_rollout_reports_blames_no_probe_of_today(scene, analyzer):
    scene.container |= {"ports": [{"containerPort": 9090}], "readinessProbe": http("/new", 8082)}
    scene.deployment()
    scene.pod(container={"readinessProbe": http("/old", 8081)}, **NOT_READY)
    scene.event("Unhealthy", f"Readiness {REFUSED} connection refused")
    scene.event("Unhealthy", f"Readiness {ABSENT}")
    assert analyzer.analyze(await scene.case()) == ()
