import json
from datetime import UTC, datetime

import pytest
import yaml

from tocsin_cli.cases import bundles, outcomes, recorded, revisions, staging
from tocsin_cli.cases.outcomes import Action
from tocsin_cli.cases.recorded import Item, Recorded
from tocsin_cli.demo.git import git
from tocsin_contracts import CauseClass, EditOp, RunState
from tocsin_kit.errors import PermanentError
from tocsin_testing import build

NOW = """\
spec:
  containers:
  - name: app
    image: web:2
    env:
    - name: MODE
      value: fast
"""
ALERT = {"labels": {"alertname": "A", "namespace": "shop"}, "startsAt": "2026-03-02T09:00:00Z"}


def case(*evidence, manifests=None, alert=ALERT):
    return Recorded("one", alert, manifests or {"web.yaml": NOW}, evidence)


def log(text):
    return Item("git_history", text=text)


def test_a_line_is_a_case_and_what_is_right_is_not_read(tmp_path):
    line = {
        "id": "x",
        "alert": ALERT,
        "manifests": [{"file": "web.yaml", "text": NOW, "provenance": "repo"}],
        "evidence": [
            {"kind": "kubectl", "command": "kubectl get pods", "text": "NAME"},
            {"kind": "check", "tool": "systemctl", "args": ["status", "kubelet"], "text": "dead"},
            {"kind": "check", "tool": "anomalies", "args": {}, "json": {"a": 1}},
        ],
        "truth": {"cls": "missing_env"},
    }
    file = tmp_path / "cases.jsonl"
    file.write_text(f"{json.dumps(line)}\n\n")
    (found,) = recorded.read(file)
    assert found.manifests == {"web.yaml": NOW}
    commands = [item.command for item in found.evidence]
    assert commands[:2] == ["kubectl get pods", "systemctl status kubelet"]
    assert "missing_env" not in repr(found)


def test_what_a_line_lacks_is_named(tmp_path):
    (tmp_path / "cases.jsonl").write_text('{"id": 1}\n')
    with pytest.raises(PermanentError, match="with id and alert: no 'alert'; docs/diagnosis"):
        recorded.read(tmp_path / "cases.jsonl")


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"id": 1, "alert": {}, "evidence": 3}'])
def test_a_line_that_is_no_case_is_named(tmp_path, line):
    (tmp_path / "cases.jsonl").write_text(f"{line}\n")
    with pytest.raises(PermanentError, match=r"cases\.jsonl:1 is no case"):
        recorded.read(tmp_path / "cases.jsonl")


def test_evidence_is_saved_under_the_command_that_prints_it(tmp_path):
    items = (
        Item("logs", text="a line"),
        Item("secrets", text="NAME"),
        Item("kubectl", command="kubectl get pods -A", text="NAME"),
        Item("kubectl", command="get nodes", text="NAME"),
        Item("check", command="systemctl status kubelet", text="dead"),
        Item("pod_status", data={"kind": "Pod"}),
    )
    bundles.write(case(*items), tmp_path / "new")
    texts = [path.read_text() for path in sorted((tmp_path / "new").glob("*.txt"))]
    assert [text.partition("\n")[0] for text in texts] == [
        "$ kubectl logs -n shop",
        "$ kubectl get secrets -n shop",
        "$ kubectl get pods -A",
        "$ kubectl get nodes",
        "$ systemctl status kubelet",
        "$ kubectl get pods -n shop",
    ]
    assert json.loads(texts[-1].partition("\n")[2]) == {"kind": "Pod"}
    assert yaml.safe_load((tmp_path / "new" / "index.yaml").read_text()) == {"namespace": "shop"}


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Name: web\nReference: Deployment/web\nMin replicas: 1\n", "kubectl describe"),
        ("Name: web\nType: ClusterIP\nEndpoints: <none>\n", "kubectl describe service web"),
    ],
)
def test_a_description_that_bears_the_name_of_a_service_is_not_always_of_one(
    tmp_path, text, command
):
    alert = {"labels": {"namespace": "shop", "service": "web"}}
    bundles.write(case(Item("describe", text=text), alert=alert), tmp_path / "new")
    (file,) = (tmp_path / "new").glob("*.txt")
    assert file.read_text().partition("\n")[0] == f"$ {command} -n shop"


@pytest.mark.parametrize(
    "text",
    [
        "commit 91be2f4 (HEAD) 10:05 'bump web'\n-        image: web:1\n+        image: web:2\n",
        "commit 91be2f4aa\nAuthor: a\n\n    bump web\n\ndiff --git a/web.yaml b/web.yaml\n"
        "--- a/web.yaml\n+++ b/web.yaml\n@@ -2,3 +2,3 @@\n   - name: app\n"
        "-    image: web:1\n+    image: web:2\n     env:\n",
    ],
)
def test_a_recorded_change_is_a_commit_again(text):
    first, last = revisions.commits(case(log(text)))
    assert last.subject == "bump web"
    assert last.files == {"web.yaml": NOW.encode()}
    assert first.files == {"web.yaml": NOW.replace("web:2", "web:1").encode()}
    assert first.at < last.at < datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "no log", "commit 91be2f4 'other'\n-a: 1\n+a: 2\n", "commit 91be2f4\n+- name: x\n"]
)
def test_a_log_that_does_not_lead_to_the_manifests_makes_no_commit(text):
    (only,) = revisions.commits(case(log(text)))
    assert only.files == {"web.yaml": NOW.encode()}


def test_a_line_that_was_added_is_not_there_before():
    text = "commit 91be2f4 'mode'\n+    env:\n+    - name: MODE\n+      value: fast\n"
    first, _ = revisions.commits(case(log(text)))
    assert first.files["web.yaml"].decode() == NOW.partition("    env")[0]


def test_every_case_is_staged_as_a_cluster_with_a_repository_of_its_own(tmp_path):
    cases = (case(Item("logs", text="x")), case(manifests={"api.yaml": "kind: X\n"}))
    staged, world = staging.stage(cases, tmp_path)
    assert [path.name for path in sorted(world.snapshots.iterdir())] == ["case-0001", "case-0002"]
    rules = yaml.safe_load(world.gitops.read_text())["repositories"]
    assert [rule["cluster"] for rule in rules] == ["case-0001", "case-0002"]
    text = git(tmp_path / rules[1]["git_dir"], "show", "main:api.yaml")
    assert text == "kind: X\n"
    (alert,) = json.loads(staged[0].payload())["alerts"]
    assert alert["labels"] == {"alertname": "A", "namespace": "shop", "cluster": "case-0001"}


def of(*facts, manifests=None, **changes):
    return outcomes.of_run(case(manifests=manifests), build.run(*facts, **changes))


def test_a_plan_that_changes_a_manifest_is_an_edit_with_the_whole_new_text():
    before = "kind: Deployment\nmetadata: {name: payments-api}\nmemory: 128Mi\n"
    edit = build.edit(file="web.yaml", path=("memory",))
    drafted = build.plan_drafted(plan=build.plan(edits=(edit,)))
    found = of(drafted, manifests={"web.yaml": before})
    assert found.action is Action.EDIT
    assert found.files == {"web.yaml": before.replace("128Mi", "256Mi")}


def test_a_plan_that_only_proposes_asks_a_person():
    edit = build.edit(file="remediations/x.md", op=EditOp.CREATE, document=None, new="text")
    drafted = build.plan_drafted(plan=build.plan(edits=(edit,)))
    assert of(drafted).action is Action.ESCALATE


def test_an_escalated_run_names_what_came_closest():
    candidate = build.finding(cause=CauseClass.APP_ERROR)
    unsure = build.investigation_inconclusive(candidates=(candidate,))
    ended = build.run_finished(outcome=RunState.ESCALATED)
    found = of(unsure, ended, state=RunState.ESCALATED)
    assert (found.action, found.cls, found.family) == (Action.ESCALATE, "app_error", "dependency")


@pytest.mark.parametrize("state", [RunState.NO_CHANGE, RunState.SUPPRESSED])
def test_a_run_that_ends_without_a_change_proposes_nothing(state):
    assert of(build.run_finished(outcome=state), state=state).action is Action.NONE


@pytest.mark.parametrize(
    ("facts", "state", "settled"),
    [
        ((), RunState.VALIDATING, False),
        ((build.plan_drafted(),), RunState.VALIDATING, True),
        ((), RunState.ESCALATED, True),
    ],
)
def test_a_run_is_settled_once_a_person_is_asked_or_it_is_over(facts, state, settled):
    assert outcomes.is_settled(build.run(*facts, state=state)) is settled
