import pytest

from tocsin_rca.analyzers.ephemeral_storage import EphemeralStorage
from tocsin_rca.analyzers.memory_leak import MemoryLeak
from tocsin_rca.analyzers.node_memory import NodeMemory
from tocsin_rca.analyzers.oom_limit import OomLimit
from tocsin_rca.analyzers.out_of_memory import OutOfMemory
from tocsin_rca.evidence.growth import climbs, only_grows, piles_up, row_grows, table_grows

ALL = (OomLimit, OutOfMemory, MemoryLeak, NodeMemory, EphemeralStorage)


async def found(scene, title="SomethingIsWrong"):
    case = await scene.case(scene.alert().model_copy(update={"title": title}))
    return [finding for make in ALL for finding in make().analyze(case)]


async def only(scene, title="SomethingIsWrong"):
    (finding,) = await found(scene, title)
    return finding


def unready(scene, log):
    scene.deployment()
    scene.pod(ready=False, restartCount=2, state={"running": {}})
    scene.log(log, previous=False)


@pytest.mark.parametrize(
    "line",
    [
        "Exception in thread main java.lang.OutOfMemoryError: Java heap space",
        "<--- JS stacktrace --->\nFATAL ERROR: Ineffective mark-compacts near heap limit Allocation"
        " failed - JavaScript heap out of memory",
        "fatal error: runtime: out of memory",
        "Traceback (most recent call last):\n  File 'a.py'\nMemoryError",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "PHP Fatal error:  Allowed memory size of 134217728 bytes exhausted",
        "memory allocation of 4294967296 bytes failed",
    ],
)
async def test_runtimes_say_in_their_own_way_that_memory_is_out(scene, line):
    unready(scene, line)
    finding = await only(scene)
    assert finding.cause.value == "oom_killed_limit_too_low"
    assert finding.change is None


@pytest.mark.parametrize(
    "log",
    [
        "".join(
            f'{{"memory_usage_mb": {n}, "memory_limit_mb": 4096}}\n' for n in range(100, 900, 99)
        ),
        "".join(f"heap used: {n} MB\n" for n in range(100, 900, 99)),
        "".join(f"rss={n}Mi\n" for n in [500, 900, *range(100, 900, 99)]),
    ],
)
def test_growth_is_seen_in_any_form_and_after_a_restart(log):
    assert only_grows(log)


@pytest.mark.parametrize(
    "log",
    [
        "heap used: 100 MB\n" * 20,
        "".join(f"heap used: {n} MB\n" for n in (100, 180, 120, 260, 150, 300, 140)),
        "".join(f"memory_limit_mb: {n}\n" for n in range(100, 900, 99)),
        "".join(f"memory used {n}%\n" for n in range(10, 90, 9)),
        "",
    ],
)
def test_steady_sawtooth_and_limits_are_no_growth(log):
    assert not only_grows(log)


@pytest.mark.parametrize(
    ("log", "grows"),
    [
        ("".join(f"session cache holds {n} entries\n" for n in range(100, 900, 99)), True),
        ("".join(f"cache size now {n}\n" for n in (5, 80, 300, 900, 4000, 9000)), True),
        ("".join(f"cache hits: {n}\n" for n in range(100, 900, 99)), False),
        ("".join(f"cache evicted {n} entries\n" for n in range(100, 900, 99)), False),
        ("".join(f"cached {n}ms\n" for n in range(100, 900, 99)), False),
        ("".join(f"processed {n} records\n" for n in range(100, 900, 99)), False),
        ("cache holds 500 entries\n" * 20, False),
    ],
)
def test_what_is_kept_is_told_from_what_is_counted(log, grows):
    assert piles_up(log) is grows


@pytest.mark.parametrize(
    ("sizes", "grows"),
    [((20, 41, 66, 90), True), ((20, 21, 22, 23), False), ((90, 60, 80, 70), False)],
)
def test_a_table_may_show_one_pod_at_several_times(sizes, grows):
    rows = "".join(f"10:0{n}:00  web-1-a   {size}Mi\n" for n, size in enumerate(sizes))
    assert table_grows(f"TIME      POD       MEMORY\n{rows}") is grows


@pytest.mark.parametrize(
    ("values", "grows"),
    [
        ([100 + 5 * n for n in range(40)], True),
        ([100] * 40, False),
        ([100, 180, 190, 195] + [200] * 36, False),
        ([100 + 60 * (n % 4) for n in range(40)], False),
    ],
)
def test_a_climb_is_long_and_steady_and_not_a_start(values, grows):
    assert climbs([60.0 * n for n in range(len(values))], values) is grows


@pytest.mark.parametrize(
    ("row", "grows"),
    [
        ("web memory_working_set  08:00 61Mi  08:20 140Mi  08:40 245Mi  09:00 372Mi", True),
        ("web memory_working_set  08:00 61Mi  08:20 64Mi  08:40 60Mi  09:00 66Mi", False),
        ("web disk  08:00 61Mi  08:20 140Mi  08:40 245Mi  09:00 372Mi", False),
    ],
)
def test_a_curve_may_stand_on_one_line(row, grows):
    assert row_grows(row) is grows


LEAKING = "import time\nkept = []\nwhile True:\n  kept.append(bytes(9000))\n  time.sleep(1)"


@pytest.mark.parametrize(
    ("program", "cause"),
    [
        (LEAKING, "memory_leak"),
        (f"{LEAKING}\n  kept.pop()", "oom_killed_limit_too_low"),
        ("stress --vm 1 --vm-bytes 250M", "oom_killed_limit_too_low"),
    ],
)
async def test_a_program_that_keeps_all_it_makes_gets_no_higher_limit(scene, program, cause):
    scene.container |= {"args": ["-c", program], "resources": {"limits": {"memory": "60Mi"}}}
    scene.deployment()
    ending = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    scene.pod(ready=False, restartCount=4, state={"waiting": {}}, lastState=ending)
    best = max(await found(scene), key=lambda finding: finding.confidence)
    assert (best.cause.value, best.change is None) == (cause, cause == "memory_leak")


async def test_growth_that_ends_in_a_kill_is_a_leak_and_no_limit(scene):
    scene.container["resources"] = {"limits": {"memory": "512Mi"}}
    scene.deployment()
    ending = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    scene.pod(ready=False, restartCount=2, state={"waiting": {}}, lastState=ending)
    scene.log("".join(f"heap used: {n} MB\n" for n in range(100, 500, 50)))
    best = max(await found(scene), key=lambda finding: finding.confidence)
    assert best.cause.value == "memory_leak"


async def test_a_kill_without_a_limit_in_sight_is_named_without_a_change(scene):
    scene.deployment()
    ending = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    scene.pod(ready=False, restartCount=2, state={"waiting": {}}, lastState=ending)
    finding = await only(scene)
    assert finding.cause.value == "oom_killed_limit_too_low"
    assert finding.change is None


LOW = (
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 61204Ki. Container"
    " app was using 9104Ki, request is 0, has larger consumption of memory. "
)


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("Evicted", LOW),
        ("Evicted", "The node had condition: [MemoryPressure]. "),
    ],
)
async def test_an_eviction_for_memory_blames_the_pod_without_a_limit(scene, reason, message):
    scene.deployment()
    scene.event(reason, message)
    finding = await only(scene)
    assert finding.cause.value == "node_memory_pressure_unbounded_pod"
    assert finding.object.name == "web"


async def test_the_hungriest_pod_without_a_limit_is_blamed_and_not_the_evicted_one(scene):
    scene.container["resources"] = {"limits": {"memory": "64Mi"}}
    scene.deployment()
    scene.event("Evicted", LOW)
    hog = {"containers": [{"name": "eater", "image": "reg.example/eater:1"}]}
    scene.add("Deployment", "eater", {"template": {"spec": hog}})
    table = "NAME         CPU(cores)   MEMORY(bytes)\nweb-1-a      1m           9Mi\n"
    (scene.folder / "kubectl top pods -n shop.txt").write_text(table + "eater-5d9-x  2m  7000Mi\n")
    finding = await only(scene)
    assert finding.object.name == "eater"
    assert finding.confidence >= 0.9


@pytest.mark.parametrize(
    ("takes", "limit", "asked"),
    [(1000, "1536Mi", None), (7000, "12Gi", "4Gi"), (14500, "16Gi", "4Gi"), (17000, None, None)],
)
async def test_no_limit_is_given_below_what_a_pod_takes(scene, takes, limit, asked):
    scene.container["resources"] = {"limits": {"memory": "64Mi"}}
    scene.deployment()
    scene.event("Evicted", LOW)
    hog = {"containers": [{"name": "eater", "image": "reg.example/eater:1"}]}
    scene.add("Deployment", "eater", {"template": {"spec": hog}})
    table = f"NAME         CPU(cores)   MEMORY(bytes)\neater-5d9-x  2m  {takes}Mi\n"
    (scene.folder / "kubectl top pods -n shop.txt").write_text(table)
    finding = await only(scene)
    assert (finding.change.new if finding.change else None) == limit
    assert [one.new for one in finding.further] == ([asked] if asked else [])


@pytest.mark.parametrize(
    "message",
    [
        'Container app exceeded its local ephemeral storage limit "1Gi". ',
        'Usage of EmptyDir volume "cache" exceeds the limit "1Gi". ',
        "Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
        "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi.",
        "The node had condition: [DiskPressure]. ",
    ],
)
async def test_an_eviction_for_disk_is_told_from_one_for_memory(scene, message):
    scene.deployment()
    scene.event("Evicted", message)
    finding = await only(scene)
    assert finding.cause.value == "ephemeral_storage_exceeded"
    assert finding.change is None


async def test_the_volume_that_was_too_small_is_doubled(scene):
    volume = {"name": "cache", "emptyDir": {"sizeLimit": "256Mi"}}
    spec = {"containers": [scene.container], "volumes": [volume]}
    scene.add("Deployment", "web", {"template": {"spec": spec}})
    scene.event("Evicted", 'Usage of EmptyDir volume "cache" exceeds the limit "256Mi". ')
    change = (await only(scene)).change
    assert (change.path[-1], change.old, change.new) == ("sizeLimit", "256Mi", "512Mi")


@pytest.mark.parametrize(
    "line",
    ["memory leak detector enabled", "no memory leaks found", "INFO heap dump written"],
)
async def test_words_about_memory_are_no_trouble(scene, line):
    unready(scene, line)
    assert await found(scene) == []


async def test_a_kill_that_only_the_alert_names_raises_the_one_limit(scene):
    scene.container["resources"] = {"limits": {"memory": "128Mi"}}
    scene.deployment()
    finding = await only(scene, "ContainerOOMKilled")
    assert (finding.change.old, finding.change.new) == ("128Mi", "256Mi")


async def test_a_runtime_that_gives_up_says_nothing_about_the_limit(scene):
    scene.container["resources"] = {"limits": {"memory": "2Gi"}}
    unready(scene, "java.lang.OutOfMemoryError: Java heap space")
    assert (await only(scene)).change is None


def stopped(scene, **container):
    scene.container |= {"resources": {"limits": {"memory": "64Mi"}}, **container}
    scene.deployment()
    ending = {"terminated": {"reason": "Error", "exitCode": 137}}
    scene.pod(ready=False, restartCount=3, state={"waiting": {}}, lastState=ending)


async def test_a_kill_that_nobody_explains_is_a_weak_sign_of_the_limit(scene):
    stopped(scene)
    finding = await only(scene)
    assert finding.confidence < 0.7
    assert finding.change is None


@pytest.mark.parametrize("reason", ["Killing", "Evicted", "Preempted"])
async def test_a_kill_that_the_kubelet_explains_is_none(scene, reason):
    stopped(scene)
    scene.event(reason, "Stopping container app")
    assert await found(scene) == []


async def test_a_kill_that_a_probe_may_explain_is_none(scene):
    stopped(scene, livenessProbe={"httpGet": {"path": "/live", "port": 80}})
    assert await found(scene) == []
