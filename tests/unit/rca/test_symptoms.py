import pytest

from tocsin_cluster.manifest import Manifest
from tocsin_cluster.printed import Printed
from tocsin_contracts import CauseClass
from tocsin_rca.analyzers.app_symptoms import AppSymptoms
from tocsin_rca.analyzers.bad_release import BadRelease
from tocsin_rca.analyzers.connection_pool import ConnectionPool
from tocsin_rca.analyzers.database_state import DatabaseState
from tocsin_rca.analyzers.drift import Drift
from tocsin_rca.analyzers.gitops_sync import GitopsSync
from tocsin_rca.analyzers.no_incident import NoIncident
from tocsin_rca.analyzers.rate_limit import RateLimit
from tocsin_rca.analyzers.recent_change import RecentChange
from tocsin_rca.analyzers.rollout_stuck import RolloutStuck
from tocsin_rca.analyzers.unreachable import Unreachable
from tocsin_rca.evidence.complaints import complaints
from tocsin_rca.evidence.wellness import is_calm
from tocsin_rca.ports import Declared

READY = {"ready": True, "restartCount": 1, "state": {"running": {}}}
IMAGE = ("spec", "template", "spec", "containers", "[name=app]", "image")


def alert(scene, title="HighRequestErrorRate", began="2026-03-02T08:30:00Z", **labels):
    made = scene.alert(**labels)
    return type(made).model_validate(made.model_dump() | {"title": title, "starts_at": began})


def web(scene, *said, env=None):
    scene.container |= {"env": env} if env else {}
    scene.deployment()
    scene.pod(**READY)
    scene.log("\n".join(("INFO started", *said)), previous=False)


async def found(analyzer, scene, *said, title="HighRequestErrorRate", env=None):
    web(scene, *said, env=env)
    return analyzer().analyze(await scene.case(alert(scene, title)))


@pytest.mark.parametrize(
    "line",
    [
        "FATAL: sorry, too many clients already",
        "FATAL: remaining connection slots are reserved for non-replication superuser connections",
        "ERROR 1040 (HY000): Too many connections",
        "sqlalchemy.exc.TimeoutError: QueuePool limit of size 5 overflow 10 reached",
        "HikariPool-1 - Connection is not available, request timed out after 30001ms.",
        "KnexTimeoutError: Timeout acquiring a connection. The pool is probably full.",
        "redis.exceptions.ConnectionError: max number of clients reached",
        "redis: connection pool timeout",
        "The timeout period elapsed prior to obtaining a connection from the pool.",
        "Could not get a resource from the pool",
    ],
)
async def test_a_spent_pool_is_told_in_many_ways(scene, line):
    (finding,) = await found(ConnectionPool, scene, f"ERROR {line}")
    assert (finding.confidence >= 0.9, finding.change) == (True, None)


async def test_a_pool_that_a_commit_made_smaller_gets_its_size_back(scene):
    path = (*IMAGE[:-1], "env", "[name=DB_POOL_SIZE]", "value")
    scene.commit(path, "50", "5")
    env = [{"name": "DB_POOL_SIZE", "value": "5"}]
    (finding,) = await found(ConnectionPool, scene, "QueuePool limit of size 5 reached", env=env)
    assert (finding.change.path, finding.change.new) == (path, "50")


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("cannot execute UPDATE in a read-only transaction", CauseClass.DATABASE_READ_ONLY),
        ("READONLY You can't write against a read only replica.", CauseClass.DATABASE_READ_ONLY),
        (
            "ERROR 1290 (HY000): The MySQL server is running with the --read-only option",
            CauseClass.DATABASE_READ_ONLY,
        ),
        ("MongoServerError: not primary", CauseClass.DATABASE_READ_ONLY),
        (
            "blocked by: [FORBIDDEN/12/index read-only / allow delete]",
            CauseClass.DATABASE_READ_ONLY,
        ),
        ("FATAL: the database system is starting up", CauseClass.DATABASE_FAILOVER),
        (
            "FATAL: terminating connection due to administrator command",
            CauseClass.DATABASE_FAILOVER,
        ),
        ("+switch-master mymaster 10.1.0.4 6379 10.1.0.5 6379", CauseClass.DATABASE_FAILOVER),
    ],
)
async def test_a_data_store_says_what_state_it_is_in(scene, line, cause):
    (finding,) = await found(DatabaseState, scene, line)
    assert finding.cause is cause


@pytest.mark.parametrize(
    "line",
    ["open /var/log/x: read-only file system", "OSError: [Errno 30] Read-only file system: '/x'"],
)
async def test_a_read_only_file_system_is_no_read_only_database(scene, line):
    assert await found(DatabaseState, scene, line) == ()


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("WARN upstream answered 429 Too Many Requests", 1),
        ("ThrottlingException: Rate exceeded", 1),
        ("error: limiting requests, excess: 20.700 by zone", 1),
        ("Waited for 1.2s due to client-side throttling, not priority and fairness", 0),
        ("GET /orders/429 200", 0),
    ],
)
async def test_a_limit_is_told_from_what_only_looks_like_one(scene, line, count):
    assert len(await found(RateLimit, scene, line)) == count


async def test_what_cannot_be_reached_is_named_once_for_all_lines(scene):
    said = [f"ERROR {n} dial tcp: lookup db.example on 10.96.0.10:53: no such host" for n in "1234"]
    (finding,) = await found(Unreachable, scene, *said)
    assert "db.example" in finding.summary
    assert (finding.confidence, finding.change) == (0.85, None)


async def test_the_pod_itself_is_not_what_it_depends_on(scene):
    assert await found(Unreachable, scene, "dial tcp 127.0.0.1:9000: connection refused") == ()


# Slow and failing programs


@pytest.mark.parametrize(
    ("line", "confidence"),
    [("Database call completed in 8.01 seconds", 0.85), ("request took 12 ms", 0.62)],
)
async def test_a_slow_program_is_surest_where_its_log_says_so(scene, line, confidence):
    found_now = await found(AppSymptoms, scene, line, title="HighLatency")
    assert [(f.cause, f.confidence) for f in found_now] == [(CauseClass.APP_LATENCY, confidence)]


async def test_a_quiet_log_under_an_alert_about_something_else_is_no_symptom(scene):
    assert await found(AppSymptoms, scene, "INFO 0 errors", title="KubeQuotaAlmostFull") == ()


# Releases


async def released(scene, *said, title="HighRequestErrorRate", before="reg.example/shop/web:1"):
    scene.commit(IMAGE, before, "reg.example/shop/web:2")
    return await found(BadRelease, scene, *said, title=title)


async def test_errors_after_a_release_undo_it(scene):
    (finding,) = await released(scene, "ERROR pricing failed: NoneType")
    assert (finding.change.old, finding.change.new) == (
        "reg.example/shop/web:2",
        "reg.example/shop/web:1",
    )
    assert finding.confidence >= 0.9


@pytest.mark.parametrize("title", ["KubeQuotaAlmostFull", "CertificateExpiresSoon"])
async def test_a_release_is_not_to_blame_for_what_no_release_does(scene, title):
    assert await released(scene, "ERROR x", title=title) == ()


async def test_a_release_without_errors_is_fine(scene):
    assert await released(scene, "INFO all is well") == ()


async def test_another_repository_is_doubted_to_be_another_version(scene):
    (finding,) = await released(scene, "ERROR x", before="reg.example/other/web:1")
    assert finding.confidence < 0.9


async def test_a_release_after_the_alert_or_beside_a_failing_callee_is_doubted(scene):
    (finding,) = await released(scene, "ERROR dial tcp 10.9.0.3:5432: connection refused")
    assert 0.6 <= finding.confidence < 0.85
    late = BadRelease().analyze(await scene.case(alert(scene, began="2026-03-02T07:00:00Z")))
    assert late[0].confidence < 0.6


async def test_the_one_value_that_changed_before_the_errors_is_likely(scene):
    path = (*IMAGE[:-1], "env", "[name=MODE]", "value")
    scene.commit(path, "safe", "fast")
    env = [{"name": "MODE", "value": "fast"}]
    (finding,) = await found(RecentChange, scene, "ERROR basket 7 has no address", env=env)
    assert (finding.cause, finding.change.new) == (CauseClass.CONFIG_VALUE_WRONG, "safe")
    assert 0.6 <= finding.confidence < 0.9


# Rollouts, GitOps


async def test_a_rollout_past_its_deadline_names_what_its_pods_wait_for(scene):
    scene.deployment()
    condition = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}
    scene.objects[0]["status"] = {"conditions": [condition]}
    scene.pod(state={"waiting": {"reason": "CreateContainerConfigError"}})
    (finding,) = RolloutStuck().analyze(await scene.case())
    assert "CreateContainerConfigError" in finding.summary


@pytest.mark.parametrize(
    ("status", "count"),
    [
        ({"sync": {"status": "Synced"}, "health": {"status": "Healthy"}}, 0),
        ({"sync": {"status": "OutOfSync"}}, 1),
        ({"operationState": {"phase": "Failed", "message": "one or more objects failed"}}, 1),
        ({"conditions": [{"type": "ComparisonError", "message": "app path does not exist"}]}, 1),
    ],
)
async def test_an_application_says_whether_it_can_be_synced(scene, status, count):
    scene.deployment()
    scene.add("Application", "web", status=status)
    assert len(GitopsSync().analyze(await scene.case())) == count


async def test_a_release_of_flux_that_is_not_ready_says_why(scene):
    scene.deployment()
    condition = {"type": "Ready", "status": "False", "reason": "UpgradeFailed", "message": "boom"}
    scene.add("HelmRelease", "web", status={"conditions": [condition]})
    (finding,) = GitopsSync().analyze(await scene.case())
    assert "UpgradeFailed: boom" in finding.summary


# Nothing is wrong


@pytest.mark.parametrize("title", ["Watchdog", "DeadMansSwitch", "InfoInhibitor", "TestAlert"])
async def test_a_heartbeat_is_no_incident(scene, title):
    scene.deployment()
    (finding,) = NoIncident().analyze(await scene.case(alert(scene, title)))
    assert finding.confidence >= 0.9


def well(scene, **status):
    scene.deployment()
    scene.objects[0]["spec"]["replicas"] = 1
    scene.objects[0]["status"] = {"readyReplicas": 1, "updatedReplicas": 1} | status
    scene.pod(ready=True, restartCount=0, state={"running": {}})
    scene.objects[1]["status"]["conditions"] = [{"type": "Ready", "status": "True"}]


async def test_what_is_well_again_is_no_incident(scene):
    well(scene)
    (finding,) = NoIncident().analyze(await scene.case(alert(scene, "KubePodNotReady")))
    assert finding.confidence >= 0.9


@pytest.mark.parametrize("title", ["HighRequestErrorRate", "HighLatency"])
async def test_ready_pods_say_nothing_about_errors_and_slowness(scene, title):
    well(scene)
    assert NoIncident().analyze(await scene.case(alert(scene, title))) == ()


async def test_a_warning_or_an_error_speaks_against_being_well(scene):
    well(scene)
    scene.event("Unhealthy", "Readiness probe failed")
    assert NoIncident().analyze(await scene.case(alert(scene, "KubePodNotReady"))) == ()


async def test_fewer_pods_than_wanted_are_not_well(scene):
    well(scene, readyReplicas=0)
    assert NoIncident().analyze(await scene.case(alert(scene, "KubePodNotReady"))) == ()


def over(made):
    return type(made).model_validate(made.model_dump() | {"status": "resolved"})


def runs(scene, **status):
    """A pod that nothing declares, and so nothing says how many are wanted."""
    scene.pod(**({"ready": True, "restartCount": 0, "state": {"running": {}}} | status))


@pytest.mark.parametrize(
    ("status", "count"),
    [
        ({}, 1),
        ({"restartCount": 2}, 1),
        ({"restartCount": 9}, 0),
        ({"ready": False}, 0),
        ({"phase": "Failed"}, 0),
        ({"phase": "Succeeded", "ready": False}, 1),
    ],
)
async def test_what_is_over_and_runs_well_is_no_incident_whatever_it_was(scene, status, count):
    runs(scene, **status)
    scene.event("Unhealthy", "Readiness probe failed: connection refused")
    found = NoIncident().analyze(await scene.case(over(alert(scene, "KubePodNotReady"))))
    assert [finding.confidence for finding in found] == [0.97] * count


@pytest.mark.parametrize("line", ["ERROR cannot save", "dial tcp 10.0.0.1:80: connection refused"])
async def test_what_is_over_is_not_well_while_its_log_complains(scene, line):
    web(scene, line)
    assert NoIncident().analyze(await scene.case(over(alert(scene)))) == ()


async def test_errors_that_are_over_need_a_log_that_shows_none(scene):
    runs(scene)
    assert NoIncident().analyze(await scene.case(over(alert(scene)))) == ()


async def test_what_is_over_but_was_not_seen_is_not_called_well(scene):
    assert NoIncident().analyze(await scene.case(over(alert(scene)))) == ()


async def test_left_over_pods_do_not_matter_where_all_replicas_are_there(scene):
    well(scene)
    scene.pod("web-1-old", phase="Failed", ready=False, restartCount=0, state={})
    (finding,) = NoIncident().analyze(await scene.case(alert(scene, "KubePodNotReady")))
    assert finding.confidence == 0.9


async def test_a_node_that_is_ready_again_is_no_incident(scene):
    scene.add("Node", "n1", status={"conditions": [{"type": "Ready", "status": "True"}]})
    made = alert(scene, "KubeNodeNotReady", node="n1")
    (finding,) = NoIncident().analyze(
        await scene.case(over(made.model_copy(update={"workload": None})))
    )
    assert finding.confidence == 0.97


@pytest.mark.parametrize(
    ("text", "calm"),
    [
        ("http_5xx_ratio 0.0008 (normal)\nHTTP/1.1 200 OK (12 ms)", True),
        ("no anomaly in 40 series", True),
        ("latency normal\nerrors 12 %", False),
        ("connect: connection refused", False),
        ("not healthy: 503", False),
    ],
)
def test_a_check_is_calm_only_if_each_line_says_so(text, calm):
    assert is_calm(Printed.of("probe", text)) is calm


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("level=info msg=done errors=0", 0),
        ("GET /cart status=200 error=nil", 0),
        ("error budget is 99.9 percent", 0),
        ("level=error msg=boom error=EOF", 1),
    ],
)
async def test_the_word_error_alone_is_no_complaint(scene, line, count):
    web(scene, line)
    assert len(complaints(await scene.case())) == count


async def test_a_rollout_that_only_the_cluster_remembers_is_undone_as_well(scene):
    web(scene, "ERROR pricing failed: NoneType")
    owner = [{"kind": "Deployment", "name": "web", "controller": True}]
    for revision, image in ((1, "reg.example/shop/web:1"), (2, "reg.example/shop/web:2")):
        spec = {"template": {"spec": {"containers": [{"name": "app", "image": image}]}}}
        scene.add(
            "ReplicaSet",
            f"web-{revision}",
            spec | {"replicas": revision - 1},
            ownerReferences=owner,
            creationTimestamp=f"2026-03-02T08:{revision}0:00Z",
            annotations={"deployment.kubernetes.io/revision": str(revision)},
        )
    (finding,) = BadRelease().analyze(await scene.case(alert(scene)))
    assert finding.change.new == "reg.example/shop/web:1"
    assert finding.confidence >= 0.9


@pytest.mark.parametrize(("title", "sure"), [("ManifestDrift", True), ("HighLatency", False)])
async def test_a_drift_is_the_cause_only_of_an_alert_that_speaks_of_it(scene, title, sure):
    scene.deployment()
    declared = scene.objects[0] | {"spec": {"replicas": 3}}
    scene.objects[0]["spec"]["replicas"] = 1
    scene.declared = [Declared("r", "0" * 40, "web.yaml", Manifest(declared))]
    (finding,) = Drift().analyze(await scene.case(alert(scene, title)))
    assert "replicas is '1' and should be '3'" in finding.summary
    assert (finding.confidence >= 0.9, finding.change) == (sure, None)


@pytest.mark.parametrize(
    ("code", "says"), [(139, True), (134, True), (137, False), (143, False), (1, False), (0, False)]
)
async def test_a_program_that_the_kernel_ended_for_its_own_fault_is_in_error(scene, code, says):
    scene.deployment()
    ended = {"lastState": {"terminated": {"reason": "Error", "exitCode": code}}}
    scene.pod(
        ready=False, restartCount=4, state={"waiting": {"reason": "CrashLoopBackOff"}}, **ended
    )
    found = AppSymptoms().analyze(await scene.case(alert(scene, "KubePodCrashLooping")))
    assert [one.cause.value for one in found] == ["app_error"] * says
