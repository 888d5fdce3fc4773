import pytest

from tocsin_contracts import CauseClass
from tocsin_rca.analyzers.config_value import ConfigValue
from tocsin_rca.analyzers.cronjob import CronJobs
from tocsin_rca.analyzers.init_container import InitContainer
from tocsin_rca.analyzers.job_limits import JobLimits
from tocsin_rca.analyzers.namespace import Namespace
from tocsin_rca.analyzers.prometheus_rule import PrometheusRules
from tocsin_rca.analyzers.scaled_to_zero import ScaledToZero
from tocsin_rca.evidence.cron import fault
from tocsin_rca.evidence.likeness import meant

ENDED = {"terminated": {"exitCode": 1, "reason": "Error"}}
LOOPING = {"waiting": {"reason": "CrashLoopBackOff"}}
STATUS = {"ready": False, "restartCount": 4, "state": LOOPING, "lastState": ENDED}
NO_HOST = "dial tcp: lookup postgress on 10.96.0.10:53: no such host"


def web(scene, log, **env):
    scene.container |= {"env": [{"name": name, "value": value} for name, value in env.items()]}
    scene.deployment()
    scene.pod(**STATUS)
    scene.log(log)


def service(scene, name):
    scene.add("Service", name, {"selector": {"app": name}, "ports": [{"port": 5432}]})


@pytest.mark.parametrize(
    "log",
    [
        NO_HOST,
        'could not translate host name "postgress" to address: Name or service not known',
        "getaddrinfo ENOTFOUND postgress",
        "java.net.UnknownHostException: postgress: Name or service not known",
        "HTTPConnectionPool(host='postgress', port=80): Failed to resolve 'postgress'",
        'nginx: [emerg] host not found in upstream "postgress" in /etc/nginx/nginx.conf:9',
        "wget: bad address 'postgress'",
        "Error -2 connecting to postgress:5432. Name or service not known.",
    ],
)
async def test_a_host_that_nobody_has_is_wrong_where_it_is_set(scene, log):
    web(scene, log, DB="postgress:5432")
    service(scene, "orders")
    (finding,) = ConfigValue().analyze(await scene.case())
    assert finding.cause is CauseClass.CONFIG_VALUE_WRONG
    assert "DB of Deployment shop/web, postgress, is wrong" in finding.summary
    assert finding.change is None


async def test_the_one_service_with_nearly_that_name_is_meant(scene):
    web(scene, NO_HOST, DB="postgress:5432")
    service(scene, "postgres")
    (finding,) = ConfigValue().analyze(await scene.case())
    assert (finding.change.old, finding.change.new) == ("postgress:5432", "postgres:5432")
    assert finding.confidence >= 0.9


async def test_a_service_that_exists_and_is_not_found_is_another_story(scene):
    web(scene, NO_HOST, DB="postgress:5432")
    service(scene, "postgress")
    assert ConfigValue().analyze(await scene.case()) == ()


async def test_a_host_that_is_set_nowhere_is_another_story(scene):
    web(scene, NO_HOST, DB="other:5432")
    assert ConfigValue().analyze(await scene.case()) == ()


async def test_a_value_that_a_commit_set_and_a_log_complains_of_goes_back(scene):
    web(scene, "ERROR cannot reach http://orders-v2/api: timed out", URL="http://orders-v2/api")
    path = ("spec", "template", "spec", "containers", "[name=app]", "env", "[name=URL]", "value")
    scene.commit(path, "http://orders/api", "http://orders-v2/api")
    (finding,) = ConfigValue().analyze(await scene.case())
    assert finding.change.new == "http://orders/api"
    assert finding.confidence >= 0.9


@pytest.mark.parametrize(
    ("log", "value"),
    [
        ("ValueError: invalid literal for int() with base 10: '80a'", "80a"),
        ('panic: not a valid logrus Level: "verbos"', "verbos"),
        ('strconv.Atoi: parsing "x10": invalid syntax', "x10"),
        ('NumberFormatException: For input string: "abc"', "abc"),
        ('FATAL:  database "ordrs" does not exist', "ordrs"),
        ('time: invalid duration "5sek"', "5sek"),
    ],
)
async def test_a_value_that_a_program_refuses_is_found_where_it_is_set(scene, log, value):
    web(scene, log, SETTING=value)
    (finding,) = ConfigValue().analyze(await scene.case())
    assert f"SETTING of Deployment shop/web, {value}," in finding.summary


async def test_a_service_is_asked_for_in_a_namespace_that_it_is_not_in(scene):
    host = "orders.shopp.svc.cluster.local"
    web(scene, f"lookup {host} on 10.96.0.10:53: no such host", ORDERS=host)
    service(scene, "orders")
    (finding,) = Namespace().analyze(await scene.case())
    assert finding.cause is CauseClass.NAMESPACE_TYPO


async def test_a_service_that_is_where_it_is_asked_for_is_no_slip(scene):
    host = "orders.shop.svc.cluster.local"
    web(scene, f"lookup {host} on 10.96.0.10:53: no such host", ORDERS=host)
    service(scene, "orders")
    assert Namespace().analyze(await scene.case()) == ()


def setup(scene, **status):
    scene.deployment()
    scene.pod(**STATUS)
    state = {"initContainerStatuses": [{"name": "migrate", "ready": False} | status]}
    scene.objects[-1]["status"] |= state


@pytest.mark.parametrize(
    ("status", "least"),
    [
        ({"state": LOOPING, "lastState": ENDED}, 0.9),
        ({"state": {"waiting": {"reason": "CrashLoopBackOff"}}}, 0.9),
        ({"state": {"running": {}}}, 0.6),
    ],
)
async def test_an_init_container_that_fails_or_does_not_end_is_told(scene, status, least):
    setup(scene, **status)
    (finding,) = InitContainer().analyze(await scene.case())
    assert finding.cause is CauseClass.INIT_CONTAINER_FAILURE
    assert least <= finding.confidence < least + 0.1


@pytest.mark.parametrize(
    "status",
    [
        {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}},
        {"state": {"waiting": {"reason": "PodInitializing"}}},
        {"state": {"running": {}}, "started": True},
    ],
)
async def test_an_init_container_that_did_its_work_or_runs_on_is_well(scene, status):
    setup(scene, **status)
    assert InitContainer().analyze(await scene.case()) == ()


def scaled(scene, replicas, service=""):
    scene.deployment()
    scene.objects[-1]["spec"]["replicas"] = replicas
    if service:
        scene.add("Service", service, {"selector": scene.labels, "ports": [{"port": 80}]})


async def test_a_workload_that_is_scaled_to_zero_and_named_is_told(scene):
    scaled(scene, 0, "web")
    scene.commit(("spec", "replicas"), 3, 0)
    (finding,) = ScaledToZero().analyze(await scene.case())
    assert (finding.change.old, finding.change.new) == (0, 3)
    assert finding.confidence >= 0.9


async def test_how_many_there_should_be_is_not_made_up(scene):
    scaled(scene, 0)
    (finding,) = ScaledToZero().analyze(await scene.case())
    assert finding.change is None


async def test_a_workload_that_has_replicas_is_not_scaled_to_zero(scene):
    scaled(scene, 2, "web")
    assert ScaledToZero().analyze(await scene.case()) == ()


@pytest.mark.parametrize(
    "schedule", ["0 25 * * *", "* * * *", "0 0 31 2 *", "*/0 * * * *", "0 0 32 * *", "a b c d e"]
)
def test_a_schedule_that_never_comes_is_at_fault(schedule):
    assert fault(schedule)


@pytest.mark.parametrize(
    "schedule",
    [
        "*/5 * * * *",
        "0 2 * * MON-FRI",
        "@daily",
        "TZ=UTC 0 0 1,15 * *",
        "0 0 29 2 *",
        "0 9-17 * * 7",
    ],
)
def test_a_schedule_that_comes_is_not(schedule):
    assert fault(schedule) == ""


def nightly(scene, **spec):
    whole = {"schedule": "0 2 * * *", "jobTemplate": {"spec": {"template": {"spec": {}}}}}
    scene.add("CronJob", "nightly", whole | spec)
    return scene.alert("nightly", "CronJob")


@pytest.mark.parametrize(
    "spec", [{"schedule": "0 25 * * *"}, {"suspend": True}, {"startingDeadlineSeconds": 5}]
)
async def test_a_cronjob_that_its_own_fields_keep_from_running_is_told(scene, spec):
    (finding,) = CronJobs().analyze(await scene.case(nightly(scene, **spec)))
    assert finding.cause is CauseClass.CRONJOB_MISCONFIGURED
    assert finding.change is None


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("UnparseableSchedule", 'unparseable schedule: "0 2 * *": expected exactly 5 fields'),
        ("FailedNeedsStart", "Cannot determine if job needs to be started: too many missed start"),
        ("UnknownTimeZone", 'invalid timeZone: "Europe/Berln": unknown time zone'),
    ],
)
async def test_what_the_controller_says_of_a_cronjob_is_told(scene, reason, message):
    alert = nightly(scene)
    scene.event(reason, message, pod="nightly", kind="CronJob")
    (finding,) = CronJobs().analyze(await scene.case(alert))
    assert finding.cause is CauseClass.CRONJOB_MISCONFIGURED


async def test_a_cronjob_that_runs_is_well(scene):
    assert CronJobs().analyze(await scene.case(nightly(scene))) == ()


@pytest.mark.parametrize(
    ("reason", "message", "sure"),
    [
        ("DeadlineExceeded", "Job was active longer than specified deadline", True),
        ("BackoffLimitExceeded", "Job has reached the specified backoff limit", False),
    ],
)
async def test_a_job_that_gave_up_is_told_and_tries_are_only_what_came_of_it(
    scene, reason, message, sure
):
    scene.add("Job", "load", {"template": {"spec": {}}})
    scene.event(reason, message, pod="load", kind="Job")
    (finding,) = JobLimits().analyze(await scene.case(scene.alert("load", "Job")))
    assert finding.cause is CauseClass.JOB_DEADLINE_OR_BACKOFF
    assert (finding.confidence >= 0.9) is sure


@pytest.mark.parametrize(
    ("title", "pod", "found"),
    [("RuleFailures", "prometheus-main-0", 1), ("KubePodCrashLooping", "web-1-a", 0)],
)
async def test_only_prometheus_itself_speaks_of_rules(scene, title, pod, found):
    scene.deployment()
    scene.pod(**STATUS)
    scene.log('msg="Evaluating rule failed" err="many-to-many matching not allowed"')
    alert = scene.alert(pod=pod).model_copy(update={"title": title})
    assert len(PrometheusRules().analyze(await scene.case(alert))) == found


@pytest.mark.parametrize(
    ("written", "known", "right"),
    [
        ("web-secrt", {"web-secret", "db"}, "web-secret"),
        ("web-secrt", {"web-secret", "web-secrets"}, None),
        ("web", {"web"}, None),
        ("postgres", {"mysql", "redis"}, None),
    ],
)
def test_a_slip_is_of_one_name_or_of_none(written, known, right):
    assert meant(written, known) == right
