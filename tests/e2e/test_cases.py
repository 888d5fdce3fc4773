"""Recorded failures go through real processes: what is counted is what runs in production."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e

IMAGE = "reg.example/shop/web"
MANIFEST = f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  selector:
    matchLabels: {{app: web}}
  template:
    metadata:
      labels: {{app: web}}
    spec:
      containers:
      - name: app
        image: {IMAGE}:2
"""
POD = "web-7d9c5b6f4-x2k4p"
FAILED = f'Failed to pull image "{IMAGE}:2": {IMAGE}:2: not found'
PODS = f"""\
NAME                  READY   STATUS         RESTARTS   AGE
{POD}   0/1     ErrImagePull   0          5m
"""
EVENTS = f"""\
LAST SEEN   TYPE      REASON   OBJECT                    MESSAGE
5m          Warning   Failed   pod/{POD}   {FAILED}
"""
LOG = f"commit 91be2f4 'bump web'\n-        image: {IMAGE}:1\n+        image: {IMAGE}:2\n"
ALERT = {
    "status": "firing",
    "labels": {"alertname": "KubePodNotReady", "namespace": "shop", "pod": POD},
    "annotations": {"summary": "Pod is not ready."},
    "startsAt": "2026-03-02T09:00:00Z",
}
CASES = (
    {
        "id": "tag",
        "alert": ALERT,
        "manifests": [{"file": "web.yaml", "text": MANIFEST}],
        "evidence": [
            {"kind": "kubectl", "command": "kubectl get pods -n shop", "text": PODS},
            {"kind": "events", "text": EVENTS},
            {"kind": "git_history", "text": LOG},
        ],
    },
    {"id": "nothing", "alert": ALERT, "manifests": [], "evidence": []},
    {"id": "beat", "alert": {**ALERT, "labels": {"alertname": "Watchdog"}}, "evidence": []},
)


def tocsin(*arguments):
    command = [sys.executable, "-m", "tocsin_cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Feed the cases once; the folder of what was staged, and the predictions by id."""
    folder = tmp_path_factory.mktemp("eval")
    cases, out, keep = (folder / name for name in ("cases.jsonl", "pred.jsonl", "kept"))
    cases.write_text("".join(f"{json.dumps(case)}\n" for case in CASES))
    done = tocsin("eval", cases, "--out", out, "--no-model", "--keep", keep)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["id"] for line in lines] == [case["id"] for case in CASES]
    return keep / "stage", {line["id"]: line for line in lines}


def test_what_a_recorded_log_of_git_undoes_is_proposed(kept):
    _, found = kept
    assert (found["tag"]["cls"], found["tag"]["action"]) == ("image_tag_not_found", "edit")
    assert found["tag"]["files"] == {"web.yaml": MANIFEST.replace(":2\n", ":1\n")}
    assert found["tag"]["ms"] > 0


def test_what_nobody_can_tell_goes_to_a_person(kept):
    _, found = kept
    assert (found["nothing"]["cls"], found["nothing"]["action"]) == (None, "escalate")


def test_a_heartbeat_asks_for_nothing(kept):
    _, found = kept
    assert found["beat"]["action"] == "none"


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ("terminal", "KubePodNotReady: confirmed"),
        ("markdown", "## Cause\n\n- **image_tag_not_found**"),
        ("json", '"verdict": "confirmed"'),
    ],
)
def test_one_alert_is_investigated_without_a_bus(kept, tmp_path, form, says):
    stage, _ = kept
    (tmp_path / "alert.json").write_text(json.dumps(ALERT))
    snapshot = stage / "clusters" / "case-0001"
    repo = stage / "repositories" / "case-0001.git"
    where = ("--snapshot", snapshot, "--alert", tmp_path / "alert.json", "--repo", repo)
    done = tocsin("investigate", *where, "--format", form)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout


@pytest.mark.parametrize("body", ["[]", "{", '{"alerts": []}'])
def test_a_body_that_is_no_alert_is_one_line(kept, tmp_path, body):
    stage, _ = kept
    (tmp_path / "alert.json").write_text(body)
    snapshot = stage / "clusters" / "case-0001"
    done = tocsin("investigate", "--snapshot", snapshot, "--alert", tmp_path / "alert.json")
    assert done.returncode != 0
    assert done.stderr.startswith("tocsin: ")
    assert "Traceback" not in done.stderr
