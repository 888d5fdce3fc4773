"""The demo's repository, cluster and alert tell one story, and look like the real ones."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from tocsin_cli.demo import proof, stage
from tocsin_cli.demo.git import git
from tocsin_kit.errors import PermanentError

NOW = datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    return stage.build(tmp_path_factory.mktemp("demo"), NOW)


@pytest.fixture(scope="module")
def payload(scene):
    return json.loads(scene.payload.read_bytes())


def committed(scene, path: str, commit: str = "main"):
    return git(scene.git_dir, "show", f"{commit}:{path}")


def recorded(scene, kind: str):
    files = sorted((scene.folder / "snapshot").rglob("*.yaml"))
    documents = (d for f in files for d in yaml.safe_load_all(f.read_bytes()))
    objects = (o for d in documents for o in d.get("items", [d]))
    return [o for o in objects if o["kind"] == kind]


def fingerprint(labels: dict[str, str]) -> str:
    """As Alertmanager does it: FNV-1a over the sorted labels."""
    digest = 0xCBF29CE484222325
    for name, value in sorted(labels.items()):
        for byte in name.encode() + b"\xff" + value.encode() + b"\xff":
            digest = ((digest ^ byte) * 0x100000001B3) % 2**64
    return f"{digest:016x}"


def test_the_fingerprint_here_is_the_one_alertmanager_computes():
    # Labels and fingerprint as a real Alertmanager 0.25 sent them (own capture, CC0).
    labels = {
        "alertname": "KubeJobNotCompleted",
        "cluster": "prod-eu-1",
        "job": "kube-state-metrics",
        "job_name": "import-29012345",
        "namespace": "batch",
        "prometheus": "monitoring/k8s",
        "scenario": "basic_auth",
        "severity": "warning",
    }
    assert fingerprint(labels) == "55d9eb8a53f80a0d"


def test_every_build_gives_the_same_commits(scene, tmp_path):
    again = stage.build(tmp_path, NOW)
    heads = [git(s.git_dir, "rev-parse", "main") for s in (scene, again)]
    assert heads[0] == heads[1]


def test_the_repository_is_sound_and_lived_in(scene):
    git(scene.git_dir, "fsck", "--strict")
    log = git(scene.git_dir, "log", "--format=%an%x09%cI%x09%s").splitlines()
    authors, times, _ = zip(*(line.split("\t") for line in log), strict=True)
    assert len(log) >= 8
    assert len(set(authors)) >= 4
    moments = [datetime.fromisoformat(time) for time in times]
    assert moments == sorted(moments, reverse=True)


def test_the_last_commit_but_one_lowered_the_limit_among_other_things(scene):
    subject = git(scene.git_dir, "log", "-1", "--format=%s", "main~1").strip()
    lowered = git(scene.git_dir, "show", "--format=", "main~1", "--", proof.FILE).splitlines()
    assert subject == "trim requests to fit the new node pool"
    assert f"-{proof.AFTER}" in lowered
    assert f"+{proof.BEFORE}" in lowered
    assert committed(scene, proof.FILE).splitlines().count(proof.BEFORE) == 1


def test_every_manifest_is_yaml(scene):
    paths = git(scene.git_dir, "ls-tree", "-r", "--name-only", "main").split()
    manifests = [path for path in paths if path.endswith(".yaml")]
    assert len(manifests) > 20
    for path in manifests:
        assert list(yaml.safe_load_all(committed(scene, path)))


def test_the_cluster_runs_what_the_repository_says(scene):
    (deployment,) = (
        d for d in recorded(scene, "Deployment") if d["metadata"]["name"] == "payments-api"
    )
    patch = yaml.safe_load(committed(scene, proof.FILE))
    (wanted,) = (c for c in containers(patch) if c["name"] == "api")
    (running,) = (c for c in containers(deployment) if c["name"] == "api")
    overlay = yaml.safe_load(committed(scene, "apps/payments-api/overlays/prod/kustomization.yaml"))
    assert running["resources"] == wanted["resources"]
    assert running["image"].endswith(f":{overlay['images'][0]['newTag']}")
    assert deployment["metadata"]["namespace"] == overlay["namespace"]


def containers(workload):
    return workload["spec"]["template"]["spec"]["containers"]


def test_every_pod_of_the_alert_was_killed_for_memory_and_has_a_log(scene, payload):
    pods = {pod["metadata"]["name"]: pod for pod in recorded(scene, "Pod")}
    assert len(payload["alerts"]) == 3
    for alert in payload["alerts"]:
        pod = pods[alert["labels"]["pod"]]
        api = next(s for s in pod["status"]["containerStatuses"] if s["name"] == "api")
        ended = api["lastState"]["terminated"]
        assert (ended["reason"], ended["exitCode"]) == ("OOMKilled", 137)
        assert api["restartCount"] > 1
        logs = scene.folder / "snapshot" / "logs" / "payments" / pod["metadata"]["name"]
        assert (logs / "api.previous.log").stat().st_size


def test_the_alerts_look_as_if_alertmanager_sent_them(payload):
    for alert in payload["alerts"]:
        assert alert["fingerprint"] == fingerprint(alert["labels"])
        assert alert["endsAt"] == "0001-01-01T00:00:00Z"
        assert payload["commonLabels"].items() <= alert["labels"].items()
        assert payload["groupLabels"].items() <= payload["commonLabels"].items()
        assert list(alert["labels"]) == sorted(alert["labels"])


def test_the_alerts_have_been_firing_for_a_few_minutes(payload):
    assert {alert["startsAt"] for alert in payload["alerts"]} == {"2027-01-02T03:00:05.000Z"}


def test_the_text_of_the_payload_is_escaped_as_go_does(scene):
    text = scene.payload.read_text()
    assert r"\u003e 1 \u0026 not ready" in text
    assert not set("<>&") & set(text)


def test_only_the_lowered_line_counts_as_the_fix(scene, tmp_path):
    fixed = committed(scene, proof.FILE).replace(proof.BEFORE, proof.AFTER)
    assert proof.is_the_fix(difference(scene, tmp_path, fixed))
    assert not proof.is_the_fix(difference(scene, tmp_path, fixed.replace("'96Mi'", '"96Mi"')))
    assert not proof.is_the_fix(difference(scene, tmp_path, fixed.replace("1Gi", "2Gi")))
    assert not proof.is_the_fix("")


def difference(scene, tmp_path: Path, text: str) -> str:
    work = tmp_path / "work"
    if not work.exists():
        subprocess.run(["git", "clone", "-q", scene.git_dir, work], check=True)
    (work / proof.FILE).write_text(text)
    return subprocess.run(
        ["git", "-C", work, "diff"], check=True, capture_output=True, text=True
    ).stdout


def test_what_is_not_written_is_seen_as_such(scene):
    assert proof.nothing_written(proof.written(scene)).holds
    assert not proof.one_pull_request(proof.written(scene)).holds


def test_a_complaint_of_git_is_passed_on(scene):
    with pytest.raises(PermanentError, match="git show in"):
        git(scene.git_dir, "show", "nowhere")
