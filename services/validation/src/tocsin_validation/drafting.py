"""From a located field to a frozen plan: edits, words, hashes. Pure."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tocsin_contracts import (
    Alert,
    ChangeOp,
    Edit,
    EditOp,
    FieldChange,
    FileChange,
    Finding,
    Intent,
    Plan,
    RunId,
    Target,
    Tree,
)
from tocsin_gitops import chart_values, hashing
from tocsin_gitops.diffs import unified_diff
from tocsin_gitops.yaml_paths import is_key, path_text
from tocsin_validation import wording
from tocsin_validation.outlook.risk import Judged
from tocsin_validation.ports import Proposed
from tocsin_validation.wording import said

NEW_FILE_MODE = "100644"
_ADDS = "This adds one commit to an open pull request; the undo below takes back that one alone."


@dataclass(frozen=True, slots=True)
class Words:
    """What a plan says in place of the usual, and the address of the console that it links to."""

    title: str = ""
    why: tuple[str, ...] = ()
    console: str = ""


def proposal(alert: Alert, finding: Finding, why: str) -> Edit:
    """Return the file that says what should change where no edit is provably safe."""
    first = finding.changes[0]
    places = "|".join(f"{one.object}|{path_text(one.path)}" for one in finding.changes)
    slug = hashing.sha256(places.encode())[:10]
    lines = [
        f"# {said(finding.summary)}",
        "",
        f"Alert: {said(alert.title)}",
        *(line for change in finding.changes for line in _proposed(change)),
        "",
        f"Why this is a proposal and not an edit: {said(why)}",
        *(["", f"Why this value: {said(finding.because)}"] if finding.because else []),
    ]
    text = "\n".join(lines) + "\n"
    return Edit(file=f"remediations/{first.object.name}-{slug}.md", op=EditOp.CREATE, new=text)


def _proposed(change: FieldChange) -> Iterator[str]:
    yield f"Object: {said(change.object)}"
    yield f"Field: `{said(path_text(change.path))}`"
    if change.op is not ChangeOp.INSERT:
        yield f"Now: `{said(shown(change.before))}`"
    if change.op is not ChangeOp.DELETE:
        verb = "Should have in it" if change.op is ChangeOp.APPEND else "Should be"
        yield f"{verb}: `{said(shown(change.after))}`"
    else:
        yield "Should be: nothing"


def issue_key(cluster: str, target: Target, finding: Finding) -> str:
    """Return what two runs about the same fault in the same place have in common.

    The cluster is the one that the repository describes: alerts of one may or may not name it.
    """
    return hashing.issue_key(cluster, target.repo, target.file, finding.object, finding.cause)


def head_branch(key: str, finding: Finding) -> str:
    """Return the branch of an issue."""
    return hashing.head_branch(key, f"{finding.object.name}-{finding.cause.value}")


def plan(
    run_id: RunId,
    change: Proposed,
    judged: Judged,
    base_sha: str,
    *,
    parent_sha: str = "",
    words: Words | None = None,
) -> Plan:
    """Freeze a change that passed its checks; nothing about it moves after this.

    One that goes on top of another commit than the base adds to an open pull request.
    """
    parent = parent_sha or base_sha
    told = words or Words()
    intent = Intent.OPEN if parent == base_sha else Intent.INCREMENT
    adds = (_ADDS,) if intent is Intent.INCREMENT else ()
    why = (*(told.why or wording.reasons(change)), *adds)
    draft = Plan(
        issue_key=change.issue_key,
        target=change.target,
        base_sha=base_sha,
        head_branch=change.head_branch,
        parent_sha=parent,
        intent=intent,
        edits=change.edits,
        files=tuple(_file(path, change) for path in sorted(change.after)),
        diff=unified_diff(change.before, change.after),
        title=told.title or title(change.hypothesis.finding, change.edits),
        body=wording.body(run_id, change, judged, why, told.console),
        risk=judged.risk,
        checks=judged.checks,
        policy_version=change.policy.version,
        effects=judged.effects,
        risk_reasons=judged.reasons,
        alternatives=wording.alternatives(change),
    )
    return _frozen(draft, run_id)


def _frozen(draft: Plan, run_id: RunId) -> Plan:
    """Return the plan with its true hash, which its body shows."""
    digest = hashing.plan_hash(draft, run_id)
    return draft.model_copy(
        update={"plan_hash": digest, "body": hashing.with_trailer(draft.body, digest)}
    )


def title(finding: Finding, edits: Sequence[Edit]) -> str:
    """Say the change in one line, as a commit subject."""
    name = finding.object.name
    if edits[0].op is EditOp.CREATE:
        return said(f"{name}: proposal for {finding.cause.value.replace('_', ' ')}", 200)
    told = dict.fromkeys(_subject(edit) for edit in edits)
    return said(f"{name}: {', '.join(told)}", 200)


def _subject(edit: Edit) -> str:
    """Say one edit in a few words; steps that only choose among others are left out."""
    edit = chart_values.as_change(edit)
    words = [str(step) for step in edit.path if is_key(step)] or ["document"]
    match edit.op:
        case EditOp.INSERT:
            value = edit.after
            return f"add {words[-1]}" + ("" if isinstance(value, dict | list) else f" {value}")
        case EditOp.APPEND:
            return f"add {shown(edit.after)} to {words[-1]}"
        case EditOp.DELETE:
            return f"remove {words[-1]}"
    return f"{edit.path[-1]} {edit.old} -> {edit.new}"


def shown(value: Tree) -> str:
    """Return a value on one line, as people read it: text as it is, the rest as JSON."""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _file(path: str, change: Proposed) -> FileChange:
    before = change.before.get(path)
    return FileChange(
        path=path,
        mode=change.modes.get(path, NEW_FILE_MODE),
        sha256_before=hashing.sha256(before) if before is not None else "",
        sha256_after=hashing.sha256(change.after[path]),
    )
