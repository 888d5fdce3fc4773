import pytest

from tocsin_contracts import CauseClass, ChangeOp
from tocsin_rca.analyzers.probe_listening import ProbeListening
from tocsin_rca.analyzers.probe_request import ProbeRequest
from tocsin_rca.analyzers.probe_timing import ProbeTiming

APP = ("spec", "template", "spec", "containers", "[name=app]")
LIVE, READY = CauseClass.LIVENESS_PROBE_MISCONFIGURED, CauseClass.READINESS_PROBE_MISCONFIGURED
HASTY, NO_STARTUP = CauseClass.LIVENESS_PROBE_TOO_AGGRESSIVE, CauseClass.STARTUP_PROBE_MISSING
RUNNING = {"ready": False, "restartCount": 2, "state": {"running": {}}}
LATE = 'Liveness probe failed: Get "http://10.1.1.1:8080/": context deadline exceeded'
REFUSED = "Liveness probe failed: dial tcp 10.1.1.1:8080: connect: connection refused"


def http(port=8080, **times):
    return {"httpGet": {"path": "/", "port": port}} | times


def web(scene, said, log="", ports=(8080,), **probes):
    declared = [{"containerPort": port} for port in ports]
    scene.container |= {**({"ports": declared} if declared else {}), **probes}
    scene.deployment()
    scene.pod(**RUNNING)
    scene.event("Unhealthy", said)
    if log:
        scene.log(log, previous=False)


@pytest.mark.parametrize(
    ("cause", "probe", "said"),
    [
        (LIVE, "livenessProbe", "Liveness probe failed: HTTP probe failed with statuscode: 405"),
        (LIVE, "livenessProbe", "Liveness probe failed: server gave HTTP response to HTTPS client"),
        (READY, "readinessProbe", "Readiness probe failed: HTTP probe failed with statuscode: 401"),
        (
            READY,
            "readinessProbe",
            "Readiness probe failed: this server does not implement the grpc health protocol",
        ),
    ],
)
async def test_a_probe_that_asks_wrongly_is_told(scene, cause, probe, said):
    web(scene, said, **{probe: http()})
    (finding,) = ProbeRequest().analyze(await scene.case())
    assert finding.cause is cause


@pytest.mark.parametrize(
    ("command", "said", "least"),
    [
        (["sh", "-c", "exit 1"], "", 0.95),
        (["/bin/false"], "", 0.95),
        (["curl", "-f", "localhost"], 'exec: "curl": executable file not found in $PATH', 0.9),
        (["cat", "/tmp/ok"], "cat: can't open '/tmp/ok': No such file or directory", 0.9),
        (["check"], "not yet", 0.6),
    ],
)
async def test_a_probe_whose_command_cannot_pass_is_told(scene, command, said, least):
    web(scene, f"Readiness probe failed: {said}", readinessProbe={"exec": {"command": command}})
    (finding,) = ProbeRequest().analyze(await scene.case())
    assert finding.cause is READY
    assert finding.confidence >= least


@pytest.mark.parametrize(
    "said",
    [
        "Readiness probe failed: HTTP probe failed with statuscode: 503",
        "Readiness probe failed: HTTP probe failed with statuscode: 500",
        "Readiness probe failed: dial tcp 10.1.1.1:8080: connect: connection refused",
    ],
)
async def test_a_program_that_says_it_is_not_well_is_asked_rightly(scene, said):
    web(scene, said, readinessProbe=http())
    case = await scene.case()
    assert ProbeRequest().analyze(case) == ()
    assert ProbeListening().analyze(case) == ()


@pytest.mark.parametrize(
    "log",
    [
        "INFO server listening on :9090",
        "Tomcat started on port(s): 9090 (http) with context path ''",
        "Listening on http://0.0.0.0:9090",
        "listening on [::]:9090",
        "nats: Listening for client connections on 0.0.0.0:9090",
        "Running on http://127.0.0.1:9090 (Press CTRL+C to quit)",
    ],
)
async def test_the_log_tells_where_the_program_listens(scene, log):
    web(scene, REFUSED, log, ports=(), livenessProbe=http())
    (finding,) = ProbeListening().analyze(await scene.case())
    assert (finding.change.old, finding.change.new) == (8080, 9090)
    assert finding.change.path == (*APP, "livenessProbe", "httpGet", "port")


async def test_a_program_that_listens_where_it_is_asked_is_only_slow(scene):
    web(scene, REFUSED, "listening on :8080", livenessProbe=http())
    assert ProbeListening().analyze(await scene.case()) == ()


@pytest.mark.parametrize(
    ("cause", "times", "seen", "new"),
    [
        (HASTY, {"periodSeconds": 1, "failureThreshold": 1}, (LATE,), 30),
        (HASTY, {"periodSeconds": 5, "failureThreshold": 1}, (LATE,), 6),
        (NO_STARTUP, {"failureThreshold": 3}, (REFUSED, "Started App in 70.5 seconds"), 15),
        (NO_STARTUP, {"failureThreshold": 3}, (REFUSED, "loading model weights"), None),
    ],
)
async def test_a_probe_that_does_not_wait_gets_time_if_it_is_known(scene, cause, times, seen, new):
    web(scene, *seen, livenessProbe=http(**times))
    (finding,) = ProbeTiming().analyze(await scene.case())
    assert finding.cause is cause
    assert (finding.change.new if finding.change else None) == new


@pytest.mark.parametrize(
    "log", ["panic: runtime error: index out of range", "Traceback (most recent call last):"]
)
async def test_a_program_that_falls_over_is_not_slow(scene, log):
    web(scene, REFUSED, log, livenessProbe=http())
    assert ProbeTiming().analyze(await scene.case()) == ()


async def test_a_probe_of_another_port_is_not_hasty(scene):
    web(scene, REFUSED, livenessProbe=http(8081))
    assert ProbeTiming().analyze(await scene.case()) == ()


async def test_traffic_that_is_withheld_kills_nobody(scene):
    web(scene, LATE.replace("Liveness", "Readiness"), readinessProbe=http(failureThreshold=1))
    assert ProbeTiming().analyze(await scene.case()) == ()


async def test_where_nothing_is_said_a_port_that_is_not_declared_is_suspected(scene):
    scene.container |= {"ports": [{"containerPort": 8080}], "readinessProbe": http(9090)}
    scene.deployment()
    scene.pod(**RUNNING)
    (finding,) = ProbeListening().analyze(await scene.case())
    assert finding.cause is CauseClass.READINESS_PROBE_WRONG_PORT
    assert finding.confidence < 0.7
    assert finding.change is None


async def test_a_pod_that_is_ready_is_asked_rightly_whatever_it_declares(scene):
    scene.container |= {"ports": [{"containerPort": 8080}], "readinessProbe": http(9090)}
    scene.deployment()
    scene.pod(**RUNNING | {"ready": True})
    assert ProbeListening().analyze(await scene.case()) == ()


async def test_a_pod_alone_tells_the_port_but_not_what_people_edit(scene):
    scene.container |= {"ports": [{"containerPort": 8080}], "livenessProbe": http(9999)}
    scene.pod(**RUNNING)
    scene.event("Unhealthy", REFUSED.replace("8080", "9999"))
    (finding,) = ProbeListening().analyze(await scene.case(scene.alert("web-1-a", "Pod")))
    assert finding.cause is CauseClass.LIVENESS_PROBE_WRONG_PORT
    assert finding.change is None


def at(path, port=8080):
    return {"httpGet": {"path": path, "port": port}}


def unseen(scene, said, **probes):
    """A probe fails in a pod of which nothing else was seen."""
    scene.container |= probes
    scene.deployment()
    scene.event("Unhealthy", said)


ABSENT = "Liveness probe failed: HTTP probe failed with statuscode: 404"


@pytest.mark.parametrize(
    ("other", "new"),
    [
        (at("/api/health"), "/api/health"),
        (at("/api/health", port=9999), None),
        ({"tcpSocket": {"port": 8080}}, None),
        (None, None),
    ],
)
async def test_a_path_that_is_not_there_becomes_that_of_the_probe_that_passes(scene, other, new):
    probes = {"livenessProbe": at("/healthz")} | ({"readinessProbe": other} if other else {})
    unseen(scene, ABSENT, **probes)
    (finding,) = ProbeRequest().analyze(await scene.case())
    assert finding.cause is LIVE
    assert (finding.change.new if finding.change else None) == new


async def test_a_probe_of_which_the_other_fails_too_is_told_no_path(scene):
    probes = {"livenessProbe": at("/healthz"), "readinessProbe": at("/ready")}
    unseen(scene, ABSENT, **probes)
    scene.event("Unhealthy", ABSENT.replace("Liveness", "Readiness"))
    found = ProbeRequest().analyze(await scene.case())
    assert [one.change for one in found] == [None, None]


async def test_a_probe_without_a_scheme_gets_the_one_that_the_program_speaks(scene):
    unseen(
        scene,
        "Readiness probe failed: Client sent an HTTP request to an HTTPS server.",
        readinessProbe=http(),
    )
    (finding,) = ProbeRequest().analyze(await scene.case())
    assert (finding.change.op, finding.change.after) == (ChangeOp.INSERT, "HTTPS")
