"""Value objects in a form that holds, of which a test changes what it is about."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from tocsin_contracts import (
    Alert,
    AlertStatus,
    CauseClass,
    CheckResult,
    CheckVerdict,
    Decision,
    Edit,
    Evidence,
    EvidenceKind,
    FieldChange,
    FileChange,
    Finding,
    Hypothesis,
    ObjectRef,
    Plan,
    Risk,
    RunId,
    Severity,
    Target,
    Value,
    Verdict,
    Workload,
)
from tocsin_gitops import hashing

V = TypeVar("V", bound=Value)
Fields = dict[str, Any]

RUN = RunId("r1")
NOW = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
FILE = "apps/payments-api/overlays/prod/patch-resources.yaml"
MEMORY = ("spec", "template", "spec", "containers", "[name=api]", "resources", "limits", "memory")
DEPLOYMENT = ObjectRef(kind="Deployment", namespace="payments", name="payments-api")
DIFF = f"""--- a/{FILE}
+++ b/{FILE}
@@ -10,4 +10,4 @@
           resources:
             limits:
-              memory: 128Mi
+              memory: 256Mi
"""


def plan(*, run_id: str = RUN, **changes: Any) -> Plan:
    """Return a plan of a run; its hash is the true one unless the test names another."""
    drafted = _value(Plan, changes)
    if "plan_hash" in changes:
        return drafted
    digest = hashing.plan_hash(drafted, run_id)
    body = hashing.with_trailer(drafted.body, digest)
    return drafted.model_copy(update={"plan_hash": digest, "body": body})


def decision(*, plan_hash: str | None = None, **changes: Any) -> Decision:
    """Return a decision about the plan that `plan()` builds."""
    shown = plan_hash or plan().plan_hash
    fields = {"plan_hash": shown, "approval_id": f"{RUN}.{shown[:12]}"}
    return _value(Decision, fields | changes)


def _value(kind: type[V], changes: Fields) -> V:
    return kind(**(_VALUES[kind]() | changes))


def _built(kind: type[V]) -> Callable[..., V]:
    def build(**changes: Any) -> V:
        return _value(kind, changes)

    return build


alert = _built(Alert)
check = _built(CheckResult)
edit = _built(Edit)
evidence = _built(Evidence)
field_change = _built(FieldChange)
file_change = _built(FileChange)
finding = _built(Finding)
hypothesis = _built(Hypothesis)
target = _built(Target)
workload = _built(Workload)


_VALUES: Mapping[type[Value], Callable[[], Fields]] = {
    Workload: lambda: {
        "cluster": "prod-eu-1",
        "namespace": "payments",
        "name": "payments-api",
        "kind": "Deployment",
        "container": "api",
    },
    Alert: lambda: {
        "source": "alertmanager",
        "fingerprint": "5f1c0a77de5c2b19",
        "status": AlertStatus.FIRING,
        "title": "KubeContainerOOMKilled",
        "severity": Severity.CRITICAL,
        "severity_given": "critical",
        "summary": "Container api of payments-api was killed for its memory.",
        "labels": {"alertname": "KubeContainerOOMKilled", "namespace": "payments"},
        "starts_at": NOW - timedelta(minutes=5),
        "workload": workload(),
    },
    Evidence: lambda: {
        "id": "e1",
        "kind": EvidenceKind.POD,
        "source": "snapshot",
        "query": "Pod payments/payments-api-7d9c8f6b5-x2x4z",
        "at": NOW,
        "excerpt": "lastState.terminated.reason: OOMKilled",
    },
    FieldChange: lambda: {"object": DEPLOYMENT, "path": MEMORY, "old": "128Mi", "new": "256Mi"},
    Finding: lambda: {
        "cause": CauseClass.OOM_KILLED_LIMIT_TOO_LOW,
        "object": DEPLOYMENT,
        "confidence": 0.95,
        "summary": "Container api was killed at its memory limit of 128Mi.",
        "evidence": ("e1",),
        "change": field_change(),
        "because": "The limit was 256Mi until it was lowered.",
    },
    Hypothesis: lambda: {
        "attempt": 1,
        "verdict": Verdict.CONFIRMED,
        "finding": finding(),
        "evidence": (evidence(),),
    },
    CheckResult: lambda: {
        "check": "symptom-present",
        "verdict": CheckVerdict.PASS,
        "detail": "The container still restarts.",
    },
    Edit: lambda: {
        "file": FILE,
        "document": DEPLOYMENT,
        "path": MEMORY,
        "old": "128Mi",
        "new": "256Mi",
    },
    FileChange: lambda: {
        "path": FILE,
        "mode": "100644",
        "sha256_before": "a" * 64,
        "sha256_after": "b" * 64,
    },
    Target: lambda: {
        "host": "local",
        "repo": "shop/platform-gitops",
        "base_branch": "main",
        "file": FILE,
        "document": DEPLOYMENT,
        "trace": (f"{FILE} holds {DEPLOYMENT}",),
    },
    Plan: lambda: {
        "issue_key": "prod-eu-1|shop/platform-gitops|oom",
        "target": target(),
        "base_sha": "1" * 40,
        "head_branch": "tocsin/payments-api-memory-0123456789",
        "parent_sha": "1" * 40,
        "edits": (edit(),),
        "files": (file_change(),),
        "diff": DIFF,
        "title": "Raise the memory limit of payments-api to 256Mi",
        "body": "The container was killed at its limit.\n",
        "risk": Risk.LOW,
        "checks": (check(),),
        "policy_version": "p1",
    },
    Decision: lambda: {"by": "ana", "surface": "gateway:ana", "decided_at": NOW},
}


def waiting(run_id: str) -> Fields:
    """Return the fields of an event about the plan of a run that waits for a decision."""
    drafted = plan(run_id=run_id)
    return {
        "approval_id": f"{run_id}.{drafted.short_hash}",
        "plan_hash": drafted.plan_hash,
        "title": drafted.title,
        "expires_at": NOW + timedelta(hours=4),
    }
