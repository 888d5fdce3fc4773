import pytest

from tocsin_contracts import CauseClass
from tocsin_rca.analyzers.image_pull import ImagePull
from tocsin_rca.analyzers.image_tag import ImageTag

HUB_DENIES = (
    "pull access denied, repository does not exist or may require authorization: server message:"
    " insufficient_scope: authorization failed"
)
NAME, ERROR = CauseClass.IMAGE_NAME_WRONG, CauseClass.IMAGE_PULL_ERROR
DNS, SECRET = CauseClass.IMAGE_REGISTRY_DNS_FAILURE, CauseClass.IMAGE_PULL_SECRET_MISSING


def waiting(reason="ImagePullBackOff"):
    return {"ready": False, "restartCount": 0, "state": {"waiting": {"reason": reason}}}


def failing(scene, message, image="reg.example/shop/web:2", **container):
    scene.container |= {"image": image, **container}
    scene.deployment()
    scene.pod(phase="Pending", **waiting())
    scene.event("Failed", f'Failed to pull image "{image}": {message}')


@pytest.mark.parametrize(
    ("cause", "image", "message"),
    [
        (NAME, "reg.example/shop/wbe:2", "name unknown: The repository with name 'shop/wbe' does"),
        (NAME, "ngnix:latest", HUB_DENIES),
        (DNS, "reg.example/a:1", "dial tcp: lookup reg.example on 10.0.0.2:53: no such host"),
        (DNS, "reg.example/a:1", "lookup reg.example: Temporary failure in name resolution"),
        (SECRET, "reg.example/a:1", "failed to fetch anonymous token: 401 Unauthorized"),
        (SECRET, "ghcr.io/acme/a:1", "failed to authorize: unexpected status: 403 Forbidden"),
        (SECRET, "1.dkr.ecr.eu.example/a:1", "Head manifests: no basic auth credentials"),
        (SECRET, "reg.example/a:1", HUB_DENIES),
        (ERROR, "acme/quotes:1", HUB_DENIES),
        (ERROR, "nginx:1.25", "toomanyrequests: You have reached your pull rate limit."),
        (ERROR, "reg.example/a:1", "unexpected status code [manifests 2]: 503 Service Unavailable"),
        (ERROR, "reg.example/a:1", "dial tcp 10.0.0.9:443: i/o timeout"),
        (ERROR, "reg.example/a:1", "x509: certificate signed by unknown authority"),
        (CauseClass.IMAGE_ARCHITECTURE_MISMATCH, "a/b:1", "no match for platform in manifest"),
    ],
)
async def test_what_the_registry_says_tells_the_cause(scene, cause, image, message):
    failing(scene, message, image)
    (finding,) = ImagePull().analyze(await scene.case())
    assert finding.cause is cause
    assert finding.confidence >= 0.86
    assert finding.change is None


async def test_a_tag_that_is_not_there_is_told_by_another_analyzer(scene):
    failing(scene, "reg.example/shop/web:2: not found")
    case = await scene.case()
    assert ImagePull().analyze(case) == ()
    assert ImageTag().analyze(case)[0].cause is CauseClass.IMAGE_TAG_NOT_FOUND


async def test_a_pull_secret_that_cannot_be_read_explains_a_denial(scene):
    failing(scene, HUB_DENIES, "acme/quotes:1")
    scene.event("FailedToRetrieveImagePullSecret", "Unable to retrieve some image pull secrets (r)")
    (finding,) = ImagePull().analyze(await scene.case())
    assert finding.cause is SECRET


async def test_a_pull_secret_that_cannot_be_read_does_not_explain_a_missing_tag(scene):
    failing(scene, "acme/quotes:1: not found", "acme/quotes:1")
    scene.event("FailedToRetrieveImagePullSecret", "Unable to retrieve some image pull secrets (r)")
    assert ImagePull().analyze(await scene.case()) == ()


async def test_a_pod_that_waits_for_an_image_without_a_word_is_not_sure(scene):
    scene.deployment()
    scene.pod(phase="Pending", **waiting())
    (finding,) = ImagePull().analyze(await scene.case())
    assert finding.cause is ERROR
    assert finding.confidence < 0.7


async def test_without_a_word_the_commit_that_set_the_tag_is_the_suspect(scene):
    scene.deployment()
    scene.pod(phase="Pending", **waiting())
    path = ("spec", "template", "spec", "containers", "[name=app]", "image")
    scene.commit(path, "reg.example/shop/web:1", "reg.example/shop/web:2")
    (finding,) = ImageTag().analyze(await scene.case())
    assert finding.change.new == "reg.example/shop/web:1"
    assert finding.confidence < 0.9


async def test_an_image_that_must_not_be_pulled_and_is_not_there_is_told(scene):
    scene.deployment()
    scene.event("Failed", "Error: ErrImageNeverPull")
    (finding,) = ImagePull().analyze(await scene.case())
    assert finding.cause is ERROR
    assert finding.confidence >= 0.9
