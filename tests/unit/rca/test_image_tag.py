import pytest

from tocsin_rca.analyzers.image_tag import ImageTag
from tocsin_rca.evidence import conclude
from tocsin_rca.evidence.images import only_version_differs

IMAGE = ("spec", "template", "spec", "containers", "[name=app]", "image")
BAD = "reg.example/shop/web:2"
PULL = f'Failed to pull image "{BAD}": rpc error: code = '


def waiting(reason="ImagePullBackOff", message=f'Back-off pulling image "{BAD}"'):
    state = {"waiting": {"reason": reason, "message": message}}
    return {"ready": False, "restartCount": 0, "state": state}


RUNNING = {"ready": True, "restartCount": 0, "state": {"running": {}}}


def stuck(scene, message, **status):
    scene.deployment()
    scene.pod(**(status or waiting()))
    scene.event("Failed", message)


@pytest.mark.parametrize(
    "message",
    [
        PULL + f"NotFound desc = failed to pull and unpack image: {BAD}: not found",
        PULL + f"Unknown desc = Error response from daemon: manifest for {BAD} not found:"
        " manifest unknown: manifest unknown",
    ],
)
async def test_a_commit_that_set_a_tag_nobody_has_is_undone(scene, message):
    stuck(scene, message)
    scene.commit(IMAGE, "reg.example/shop/web:1", BAD)
    (finding,) = ImageTag().analyze(await scene.case())
    assert (finding.change.old, finding.change.new) == (BAD, "reg.example/shop/web:1")
    assert finding.confidence >= 0.9


async def test_the_image_of_a_pod_that_still_runs_is_good(scene):
    stuck(scene, PULL + f"NotFound desc = {BAD}: not found")
    scene.pod("web-1-b", container={"image": "reg.example/shop/web:1.9"}, **RUNNING)
    scene.commit(IMAGE, "reg.example/shop/web:2-rc", BAD)
    (finding,) = ImageTag().analyze(await scene.case())
    assert finding.change.new == "reg.example/shop/web:1.9"


async def test_the_message_of_the_container_is_enough(scene):
    scene.deployment()
    scene.pod(**waiting("ErrImagePull", f"code = NotFound desc = {BAD}: not found"))
    (finding,) = ImageTag().analyze(await scene.case())
    assert finding.confidence >= 0.9


async def test_without_a_last_good_image_nothing_is_invented(scene):
    stuck(scene, PULL + f"NotFound desc = {BAD}: not found")
    case = await scene.case()
    (finding,) = ImageTag().analyze(case)
    assert finding.change is None
    report = conclude(case, [finding], 1, frozenset())
    assert "Nothing that was seen says which value would be right" in report.why


@pytest.mark.parametrize("before", ["reg.example/shop/api:1", "other.example/shop/web:1", None])
async def test_an_image_of_another_repository_is_no_last_good_one(scene, before):
    stuck(scene, PULL + f"NotFound desc = {BAD}: not found")
    scene.commit(IMAGE, before, BAD)
    (finding,) = ImageTag().analyze(await scene.case())
    assert finding.change is None


@pytest.mark.parametrize(
    "message",
    [
        "Unknown desc = failed to authorize: failed to fetch anonymous token: 401 Unauthorized",
        "Unknown desc = pull access denied for shop/web, repository does not exist or may require"
        " 'docker login': denied: requested access to the resource is denied",
        "Unavailable desc = dial tcp: lookup reg.example on 10.0.0.10:53: no such host",
        "Unknown desc = toomanyrequests: You have reached your pull rate limit.",
        "DeadlineExceeded desc = dial tcp 10.1.1.1:443: i/o timeout",
        "Unknown desc = x509: certificate signed by unknown authority",
        "NotFound desc = no match for platform in manifest: not found",
        "NotFound desc = name unknown: The repository with name 'shop/web' does not exist",
        "Unknown desc = unexpected status from HEAD request: 503 Service Unavailable",
    ],
)
async def test_a_pull_that_failed_for_another_reason_is_another_story(scene, message):
    stuck(scene, PULL + message)
    scene.commit(IMAGE, "reg.example/shop/web:1", BAD)
    assert ImageTag().analyze(await scene.case()) == ()


async def test_a_registry_that_also_fails_otherwise_is_less_certain(scene):
    stuck(scene, PULL + f"NotFound desc = {BAD}: not found")
    scene.event("Failed", PULL + "Unavailable desc = dial tcp: lookup reg.example: no such host")
    scene.commit(IMAGE, "reg.example/shop/web:1", BAD)
    (finding,) = ImageTag().analyze(await scene.case())
    assert finding.confidence < 0.6


async def test_a_workload_that_moved_on_is_left_alone(scene):
    scene.deployment()
    old = "reg.example/shop/web:0"
    scene.pod(container={"image": old}, **waiting(message=f"{old}: not found"))
    (finding,) = ImageTag().analyze(await scene.case())
    assert finding.confidence < 0.6


async def test_a_pod_that_has_not_started_yet_is_no_fault(scene):
    scene.deployment()
    state = {"waiting": {"reason": "ContainerCreating"}}
    scene.pod(phase="Pending", ready=False, restartCount=0, state=state)
    scene.event("Pulling", f'Pulling image "{BAD}"')
    assert ImageTag().analyze(await scene.case()) == ()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("reg:5000/a/b:1", "reg:5000/a/b:2", True),
        ("reg/a@sha256:" + "0" * 64, "reg/a:1", True),
        ("reg/a:1", "reg/a:1", False),
        ("reg/a:1", "reg/b:1", False),
        ("reg/a", "reg/a:1", False),
    ],
)
def test_only_the_version_of_an_image_may_differ(one, other, same):
    assert only_version_differs(one, other) is same
