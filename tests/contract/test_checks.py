"""Every check of validation says yes to something and no to something, and never guesses.

What each says yes and no to stands in a file of its own, `checks/<name of the check>.py`.
"""

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import (
    CheckSeverity,
    CheckVerdict,
    EndReason,
    FailureCode,
    ObjectRef,
    Risk,
)
from tocsin_gitops import editing
from tocsin_gitops.policy import RepositoryRule, WritePolicy
from tocsin_testing import build
from tocsin_validation import checks
from tocsin_validation.checks import verdicts
from tocsin_validation.facts import Incident, Known, Rendered, Surroundings, told
from tocsin_validation.outlook import risk
from tocsin_validation.ports import Consequence, Proposed

CHECKS = {check.name: check for check in checks.load()}
FOLDER = Path(__file__).parent / "checks"
EDIT = build.edit()
MANIFEST = b"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: payments-api
  namespace: payments
spec:
  replicas: 2
  selector:
    matchLabels: {app: payments-api}
  template:
    metadata:
      labels: {app: payments-api}
    spec:
      containers:
        - name: api
          image: registry.example/api:1
          resources:
            limits:
              memory: 128Mi
"""
REPLICAS = ("spec", "replicas")
GIB = 1024**3


class Make:
    """What samples are made of; each part holds, and a sample changes what its check is about."""

    edit, manifest, now = EDIT, MANIFEST, build.NOW

    def change(self, manifest=MANIFEST, edits=(EDIT,), **parts) -> Proposed:
        """A change that every check agrees to."""
        before = {EDIT.file: manifest}
        sound = Proposed(
            alert=build.alert(),
            hypothesis=build.hypothesis(),
            target=build.target(),
            edits=edits,
            before=before,
            after=editing.apply({EDIT.file: MANIFEST}, edits),
            modes=dict.fromkeys(before, "100644"),
            policy=WritePolicy(
                repositories=(RepositoryRule(name=build.target().repo, paths=("apps/**",)),)
            ),
            issue_key=build.plan().issue_key,
            head_branch=build.plan().head_branch,
            around=self.around(),
        )
        return replace(sound, **parts)

    def seen(self, **around) -> Proposed:
        """The same change in other surroundings."""
        return self.change(around=self.around(**around))

    def scaling(self, old=2, new=3, **around) -> Proposed:
        """A change of how many pods there are, as the files and the cluster have it."""
        edit = build.edit(path=REPLICAS, old=old, new=new)
        manifest = MANIFEST.replace(b"replicas: 2", f"replicas: {old}".encode())
        changed = build.field_change(path=REPLICAS, old=old, new=new)
        scaled = self.change(
            manifest,
            after=editing.apply({EDIT.file: manifest}, (edit,)),
            hypothesis=build.hypothesis(finding=build.finding(change=changed)),
            around=self.around(live=told(self.deployment(replicas=old)), **around),
        )
        return replace(scaled, edits=(edit,))

    def around(self, **facts) -> Surroundings:
        """A living cluster in which the workload fails, with room for more."""
        known = {
            "at": build.NOW,
            "version": "v1.33.1",
            "live": told(self.deployment()),
            "pods": told((self.pod(waiting="CrashLoopBackOff"),)),
            "quotas": told((self.quota(),)),
            "budgets": told(()),
            "scalers": told(()),
            "nodes": told((self.node(),)),
            "placed": told(()),
            "later": told(()),
            "competing": told(()),
            "rendered": told(Rendered()),
            "incident": told(Incident()),
        }
        return Surroundings(**(known | facts))

    def unknown(self) -> Known:
        """A fact that nobody could tell."""
        return Known(None, "it said 403 Forbidden", FailureCode.RIGHTS_DENIED)

    def deployment(self, replicas=2, ready=0, memory="128Mi") -> Manifest:
        container = {"name": "api", "resources": {"limits": {"memory": memory}}}
        template = {"metadata": {"labels": {"app": "payments-api"}},
                    "spec": {"containers": [container]}}  # fmt: skip
        return Manifest(
            {
                "kind": "Deployment",
                "metadata": {"name": "payments-api", "namespace": "payments", "generation": 3},
                "spec": {"replicas": replicas, "template": template},
                "status": {"readyReplicas": ready, "observedGeneration": 3},
            }
        )

    def pod(self, waiting="", died_at="", ready=False, node="") -> Manifest:
        state = {"waiting": {"reason": waiting}} if waiting else {"running": {}}
        last = {"terminated": {"reason": "OOMKilled", "exitCode": 137, "finishedAt": died_at}}
        status = {"name": "api", "state": state, "lastState": last if died_at else {}}
        limits = {"limits": {"memory": "1Gi"}}
        return Manifest(
            {
                "kind": "Pod",
                "metadata": {"name": "payments-api-1", "namespace": "payments"},
                "spec": {"nodeName": node, "containers": [{"name": "api", "resources": limits}]},
                "status": {
                    "phase": "Running",
                    "conditions": [{"type": "Ready", "status": str(ready)}],
                    "containerStatuses": [status],
                },
            }
        )

    def quota(self, used="1Gi", hard="4Gi") -> Manifest:
        """A quota of memory; no key is bounded that samples do not speak of."""
        key = "limits.memory"
        return Manifest(
            {
                "kind": "ResourceQuota",
                "metadata": {"name": "compute", "namespace": "payments"},
                "status": {"used": {key: used}, "hard": {key: hard}},
            }
        )

    def node(self, memory="4Gi", ready="True", labels=None) -> Manifest:
        return Manifest(
            {
                "kind": "Node",
                "metadata": {"name": "n1", "labels": labels or {}},
                "status": {
                    "allocatable": {"cpu": "4", "memory": memory},
                    "conditions": [{"type": "Ready", "status": ready}],
                },
            }
        )


@dataclass(frozen=True, slots=True)
class Samples:
    """What one check says yes to, all that it says no to, and what it cannot tell."""

    passing: tuple[Proposed, ...]
    failing: tuple[Proposed, ...]
    unknown: tuple[Proposed, ...] = ()


def _samples(name: str) -> Samples:
    file = FOLDER / f"{name.replace('-', '_')}.py"
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Samples(**module.samples(Make()))


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_says_what_it_is_about(name):
    check = CHECKS[name]
    kinds = (CheckSeverity, Consequence, EndReason, FailureCode)
    assert isinstance(check.severity, kinds[0])
    assert isinstance(check.consequence, kinds[1])
    assert isinstance(check.reason, kinds[2])
    assert isinstance(check.code, kinds[3])
    assert all(text.strip() for text in (check.needs, check.action, type(check).__doc__))
    assert not check.action.endswith(".")


def test_there_are_checks_and_each_has_a_file_of_samples():
    assert len(CHECKS) >= 18
    files = {file.stem.replace("_", "-") for file in FOLDER.glob("*.py")}
    assert files == CHECKS.keys()


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_agrees_to_a_sound_change(name):
    for right in _samples(name).passing:
        (result,) = verdicts.ask([CHECKS[name]], right)
        assert (result.check, result.verdict) == (name, CheckVerdict.PASS), result.detail
        assert result.detail
        assert result.severity is CHECKS[name].severity
        assert (result.code, result.action) == (None, "")


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_says_no_and_why_and_what_to_do(name):
    samples = _samples(name)
    assert samples.failing
    for wrong in samples.failing:
        (result,) = verdicts.ask([CHECKS[name]], wrong)
        assert (result.check, result.verdict) == (name, CheckVerdict.FAIL), result.detail
        assert result.detail
        assert result.code
        assert result.action


@pytest.mark.parametrize("name", CHECKS)
def test_what_cannot_be_told_is_unknown_and_not_a_pass(name):
    for blind in _samples(name).unknown:
        (result,) = verdicts.ask([CHECKS[name]], blind)
        assert (result.check, result.verdict) == (name, CheckVerdict.UNKNOWN), result.detail
        assert result.detail
        assert result.code
        assert result.action


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_agrees_to_a_change_that_all_others_agree_to(name):
    result = CHECKS[name].run(Make().change())
    assert result.verdict is CheckVerdict.PASS, result.detail


def test_a_small_change_of_which_everything_can_be_told_is_of_low_risk():
    change = Make().change()
    judged = risk.judged(change, verdicts.ask(checks.load(), change))
    assert (judged.risk, judged.reasons) == (Risk.LOW, ())
    assert any("quota" in one.casefold() for one in judged.effects)


@pytest.mark.parametrize("name", CHECKS)
def test_no_check_says_no_where_nothing_was_told(name):
    result = CHECKS[name].run(Make().change(around=Surroundings()))
    assert result.verdict is not CheckVerdict.FAIL, result.detail


def test_a_refused_question_says_what_would_help():
    asked = Make().scaling(budgets=Make().unknown())
    (result,) = verdicts.ask([CHECKS["disruption-budget-leaves-room"]], asked)
    assert result.code is FailureCode.RIGHTS_DENIED
    assert result.action == verdicts.ACTIONS[FailureCode.RIGHTS_DENIED]


def test_the_samples_speak_of_one_object():
    assert ObjectRef(kind="Deployment", namespace="payments", name="payments-api") == EDIT.document
