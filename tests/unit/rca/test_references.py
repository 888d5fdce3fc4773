import pytest

from tocsin_contracts import CauseClass
from tocsin_rca.analyzers.reference import MissingReference

NO_MAP, NO_KEY = CauseClass.CONFIGMAP_NOT_FOUND, CauseClass.CONFIGMAP_KEY_MISSING
NO_SECRET, NO_SECRET_KEY = CauseClass.SECRET_NOT_FOUND, CauseClass.SECRET_KEY_MISSING
ENV = ("spec", "template", "spec", "containers", "[name=app]", "env", "[name=X]", "valueFrom")
WAITING = {
    "ready": False,
    "restartCount": 0,
    "state": {"waiting": {"reason": "CreateContainerConfigError"}},
}


def holding(scene, kind, name, *keys):
    scene.add(kind, name)
    scene.objects[-1]["data"] = dict.fromkeys(keys, "")


def referring(scene, field, name, key):
    scene.container |= {"env": [{"name": "X", "valueFrom": {field: {"name": name, "key": key}}}]}
    scene.deployment()
    scene.pod(phase="Pending", **WAITING)


@pytest.mark.parametrize(
    ("cause", "reason", "message"),
    [
        (NO_MAP, "Failed", 'Error: configmap "web" not found'),
        (NO_SECRET, "Failed", 'Error: secret "web" not found'),
        (NO_KEY, "Failed", "Error: couldn't find key HOST in ConfigMap shop/web"),
        (NO_SECRET_KEY, "Failed", "Error: couldn't find key password in Secret shop/web"),
        (
            NO_MAP,
            "FailedMount",
            'MountVolume.SetUp failed for volume "c" : configmap "web" not found',
        ),
        (
            NO_SECRET,
            "FailedMount",
            'MountVolume.SetUp failed for volume "c" : secret "web" not found',
        ),
        (NO_KEY, "FailedMount", "configmap references non-existent config key: app.yml"),
        (NO_SECRET_KEY, "FailedMount", "references non-existent secret key: tls.crt"),
    ],
)
async def test_what_the_kubelet_misses_is_told(scene, cause, reason, message):
    scene.deployment()
    scene.pod(phase="Pending", **WAITING)
    scene.event(reason, message)
    (finding,) = MissingReference().analyze(await scene.case())
    assert finding.cause is cause
    assert finding.change is None


async def test_a_secret_with_nearly_that_name_and_that_key_is_meant(scene):
    referring(scene, "secretKeyRef", "web-secrt", "token")
    holding(scene, "Secret", "web-secret", "token")
    holding(scene, "Secret", "web-secre", "other")
    scene.event("Failed", 'Error: secret "web-secrt" not found')
    (finding,) = MissingReference().analyze(await scene.case())
    assert finding.change.path == (*ENV, "secretKeyRef", "name")
    assert finding.change.new == "web-secret"


async def test_of_two_that_could_be_meant_none_is_chosen(scene):
    referring(scene, "secretKeyRef", "web-secrt", "token")
    holding(scene, "Secret", "web-secret", "token")
    holding(scene, "Secret", "web-secre", "token")
    scene.event("Failed", 'Error: secret "web-secrt" not found')
    (finding,) = MissingReference().analyze(await scene.case())
    assert finding.change is None


@pytest.mark.parametrize(
    ("there", "new"),
    [
        (["web-configuration", "web-cache"], "web-configuration"),
        (["web-config-canary"], None),
        (["api-configuration"], None),
    ],
)
async def test_a_name_of_which_a_word_was_cut_short_is_meant(scene, there, new):
    referring(scene, "configMapKeyRef", "web-config", "token")
    for name in there:
        holding(scene, "ConfigMap", name, "token")
    scene.event("Failed", 'Error: configmap "web-config" not found')
    (finding,) = MissingReference().analyze(await scene.case())
    assert (finding.change.new if finding.change else None) == new


async def test_a_key_with_nearly_that_name_is_meant(scene):
    referring(scene, "configMapKeyRef", "web", "DATABSE_HOST")
    holding(scene, "ConfigMap", "web", "DATABASE_HOST", "PORT")
    scene.event("Failed", "Error: couldn't find key DATABSE_HOST in ConfigMap shop/web")
    (finding,) = MissingReference().analyze(await scene.case())
    assert finding.change.path == (*ENV, "configMapKeyRef", "key")
    assert finding.change.new == "DATABASE_HOST"


async def test_a_reference_that_a_commit_renamed_goes_back_if_the_old_one_is_there(scene):
    referring(scene, "configMapKeyRef", "settings-v2", "HOST")
    holding(scene, "ConfigMap", "web-settings", "HOST")
    scene.commit((*ENV, "configMapKeyRef", "name"), "web-settings", "settings-v2")
    scene.event("Failed", 'Error: configmap "settings-v2" not found')
    (finding,) = MissingReference().analyze(await scene.case())
    assert finding.change.new == "web-settings"


@pytest.mark.parametrize(
    "message",
    [
        'failed to sync configmap cache: object "shop"/"web" not registered',
        'Error: image "web" not found',
        'pods "web" not found',
    ],
)
async def test_other_things_that_are_not_found_are_another_story(scene, message):
    scene.deployment()
    scene.pod(phase="Pending", **WAITING)
    scene.event("Failed", message)
    assert MissingReference().analyze(await scene.case()) == ()


def mounting(scene, kind, name, *keys, **mount):
    source = {
        "ConfigMap": {"configMap": {"name": name}},
        "Secret": {"secret": {"secretName": name}},
    }
    scene.container |= {"volumeMounts": [{"name": "v", "mountPath": "/etc/web"} | mount]}
    scene.deployment()
    spec = scene.objects[-1]["spec"]["template"]["spec"]
    scene.objects[-1]["spec"]["template"]["spec"] = spec | {
        "volumes": [{"name": "v", **source[kind]}]
    }
    scene.pod(ready=False, restartCount=3, state={"waiting": {"reason": "CrashLoopBackOff"}})
    holding(scene, kind, name, *keys)


@pytest.mark.parametrize(
    ("kind", "cause", "log"),
    [
        ("ConfigMap", NO_KEY, "open /etc/web/app.yaml: no such file or directory"),
        ("Secret", NO_SECRET_KEY, "open /etc/web/app.yaml: no such file or directory"),
        (
            "ConfigMap",
            NO_KEY,
            "FileNotFoundError: [Errno 2] No such file or directory: '/etc/web/app.yaml'",
        ),
        ("ConfigMap", NO_KEY, "Error: ENOENT: no such file or directory, open '/etc/web/app.yaml'"),
    ],
)
async def test_a_file_that_its_configmap_has_no_key_for_is_told(scene, kind, cause, log):
    mounting(scene, kind, "web-files", "application.yaml")
    scene.log(log)
    (finding,) = MissingReference().analyze(await scene.case())
    assert finding.cause is cause
    assert "app.yaml of" in finding.summary


@pytest.mark.parametrize(
    "log",
    [
        "open /etc/web/app.yaml: no such file or directory",
        "open /var/lib/web.db: no such file or directory",
        "open /etc/web/deeper/app.yaml: no such file or directory",
    ],
)
async def test_a_file_that_is_there_or_comes_from_elsewhere_is_another_story(scene, log):
    mounting(scene, "ConfigMap", "web-files", "app.yaml")
    scene.log(log)
    assert MissingReference().analyze(await scene.case()) == ()


async def test_a_file_that_is_made_from_another_key_is_there(scene):
    mounting(scene, "ConfigMap", "web-files", "production")
    volumes = scene.objects[0]["spec"]["template"]["spec"]["volumes"]
    volumes[0]["configMap"]["items"] = [{"key": "production", "path": "app.yaml"}]
    scene.log("open /etc/web/app.yaml: no such file or directory")
    assert MissingReference().analyze(await scene.case()) == ()
