"""What Argo CD or Flux cannot apply, or what the cluster shows and the repository does not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.known import Known, known
from tocsin_rca.evidence.sightings import Change
from tocsin_rca.evidence.statements import told

_FLUX = ("Kustomization", "HelmRelease", "GitRepository", "HelmRepository", "OCIRepository")
_WRONG = (
    "ComparisonError",
    "SyncError",
    "InvalidSpecError",
    "UnknownError",
    "OrphanedResourceWarning",
)
_SOURCE: tuple[FieldPath, ...] = (
    ("spec", "source", "targetRevision"),
    ("spec", "source", "path"),
    ("spec", "source", "repoURL"),
    ("spec", "source", "chart"),
    ("spec", "destination", "namespace"),
    ("spec", "destination", "server"),
    ("spec", "path"),
    ("spec", "ref", "branch"),
    ("spec", "ref", "tag"),
    ("spec", "url"),
    ("spec", "sourceRef", "name"),
    ("spec", "chart", "spec", "version"),
)
_SAID = re.compile(
    r"(?im)^(?:Sync Status|Operation|Phase|Health Status):\s{1,30}(?P<state>OutOfSync|Failed|Error)"
    r"|(?P<error>ComparisonError|SyncError|one or more objects failed to apply"
    r"|failed to (?:generate|load) (?:manifest|target state)[^\n]{0,200}"
    r"|Failed to compare desired state[^\n]{0,200}|dry-run failed[^\n]{0,200}"
    r"|kustomization path not found[^\n]{0,200}|: field is immutable"
    r"|updates to statefulset spec for fields other than[^\n]{0,100}"
    r"|sync failed[^\n]{0,200}|reconciliation failed[^\n]{0,200}"
    r"|kustomize build failed[^\n]{0,200}|Helm (?:upgrade|install) failed[^\n]{0,200})"
)
_OF_FLUX = re.compile(
    r"kustomization path not found[^\n]{0,200}|dry-run failed[^\n]{0,300}"
    r"|ReconciliationFailed[^\n]{0,200}|upgrade retries exhausted|install retries exhausted"
)
_TOOLS = ("argocd", "flux")
_LONGEST = 40_000
_LONGEST_QUOTE = 200


@dataclass(frozen=True, slots=True)
class _Failure:
    """An object of Argo CD or Flux, and what it says is wrong; how sure that makes it."""

    ref: ObjectRef
    sentence: str
    sure: float
    ids: tuple[str, ...]


class GitopsSync:
    """The state of an application says that it is not what the repository wants."""

    name = "gitops_sync"
    needs = "What Argo CD or Flux reports of its objects, and the commits to their sources."
    proof = "An application says that it could not be synced or applied, or that it is out of sync."
    against = (
        "It has only drifted, or only a printed report says so, and the alert is not about syncing."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each application; a commit to its source is undone."""
        failures = [*_argo(case), *_flux(case)]
        failures = failures or list(_printed(case))
        return tuple(_finding(case, failure) for failure in failures)


def _applications(case: Case) -> Iterator[Known]:
    """Those that the cluster shows, or that Argo CD's own tool printed as JSON."""
    yield from known(case, "Application")
    for seen in case.checks:
        if isinstance(seen.data.data, dict) and seen.data.data.get("kind") == "Application":
            yield Known(Manifest(seen.data.data), (seen.id,))


def _argo(case: Case) -> Iterator[_Failure]:
    for one in _applications(case):
        wrong = [
            f"{c.get('type')}: {c.get('message')}"
            for c in one.manifest.items("status", "conditions")
            if c.get("type") in _WRONG
        ]
        phase = one.manifest.dig("status", "operationState", "phase")
        if phase in ("Failed", "Error"):
            wrong.append(str(one.manifest.dig("status", "operationState", "message") or phase))
        if wrong:
            yield _Failure(one.ref, f"cannot be synced ({_short(wrong[0])})", 0.93, one.ids)
        elif one.manifest.dig("status", "sync", "status") == "OutOfSync":
            yield _drifted(case, one)


def _drifted(case: Case, one: Known) -> _Failure:
    named = case.named == one.ref or "argo" in case.alert.title.lower()
    sentence = "is out of sync: the cluster is not what the repository says"
    return _Failure(one.ref, sentence, 0.9 if named else 0.62, one.ids)


def _flux(case: Case) -> Iterator[_Failure]:
    for kind in _FLUX:
        for one in known(case, kind):
            for condition in one.manifest.items("status", "conditions"):
                if condition.get("type") == "Ready" and condition.get("status") == "False":
                    said = f"{condition.get('reason')}: {condition.get('message')}"
                    yield _Failure(one.ref, f"is not applied ({_short(said)})", 0.92, one.ids)


def _printed(case: Case) -> Iterator[_Failure]:
    for seen in case.checks:
        if seen.data.command.tool not in _TOOLS:
            continue
        found = _SAID.search(seen.data.text[:_LONGEST])
        name = re.search(
            r"(?m)^Name:\s{1,30}(?:[\w-]{1,60}/)?(?P<name>\S{1,120})", seen.data.text[:4000]
        )
        if found:
            called = name["name"] if name else case.alert.labels.get("name", case.alert.title)
            ref = ObjectRef(kind="Application", name=called)
            named = re.search(r"(?i)sync|argo|flux|reconcil", case.alert.title)
            said = f"is not what the repository says ({_short(found[0])})"
            yield _Failure(ref, said, 0.9 if named else 0.65, (seen.id,))
            return
    yield from _told(case)


def _told(case: Case) -> Iterator[_Failure]:
    """What tables of the objects of Argo CD and Flux say, whose kinds nothing else knows."""
    for one in told(case, _OF_FLUX)[:1]:
        name = case.alert.labels.get("name", case.alert.title)
        kind = case.alert.labels.get("kind", "Application")
        ref = one.about or ObjectRef(kind=kind, name=name)
        yield _Failure(ref, f"is not applied ({_short(one.match[0])})", 0.9, (one.id,))


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_QUOTE else f"{words[: _LONGEST_QUOTE - 1]}…"


def _finding(case: Case, failure: _Failure) -> Finding:
    found = next(_undone(case, failure.ref), None)
    change, undone = found or (None, None)
    return Finding(
        cause=CauseClass.GITOPS_SYNC_FAILED,
        object=failure.ref,
        confidence=max(failure.sure, 0.95) if change else failure.sure,
        summary=f"{failure.ref} {failure.sentence}.",
        evidence=(*failure.ids, *((undone.seen.id,) if undone else ())),
        change=change,
        because=f"{undone.told} changed it; this undoes that."
        if undone
        else "What the repository says, or who changed the cluster, is for a person to settle.",
    )


def _undone(case: Case, ref: ObjectRef) -> Iterator[tuple[FieldChange, Change]]:
    manifest = case.manifest(ref)
    for path in _SOURCE if manifest else ():
        now = _value(manifest.data if manifest else None, path)
        change = case.last_change(ref, path, now) if now is not None else None
        if change and change.field.before is not None:
            yield FieldChange(object=ref, path=path, old=now, new=change.field.before), change


def _value(manifest: Manifest | None, path: FieldPath) -> str | None:
    found = manifest.dig(*path) if manifest else None
    return found if isinstance(found, str) else None
