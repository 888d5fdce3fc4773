"""From a located field to a frozen plan: edits, words, hashes. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from tocsin_contracts import (
    Alert,
    CheckResult,
    CheckVerdict,
    Edit,
    EditOp,
    FieldChange,
    FileChange,
    Finding,
    Hypothesis,
    Plan,
    Risk,
    RunId,
    Target,
)
from tocsin_gitops import hashing
from tocsin_gitops.diffs import unified_diff
from tocsin_gitops.yaml_paths import path_text
from tocsin_kit.untrusted import line
from tocsin_validation.ports import Proposed

NEW_FILE_MODE = "100644"
LONGEST = 500
_PLAIN = str.maketrans({"`": "'", "<": "\u2039"})


def proposal(alert: Alert, finding: Finding, change: FieldChange, why: str) -> Edit:
    """Return the file that says what should change where no edit is provably safe."""
    slug = hashing.sha256(f"{change.object}|{path_text(change.path)}".encode())[:10]
    lines = [
        f"# {_said(finding.summary)}",
        "",
        f"Alert: {_said(alert.title)}",
        f"Object: {_said(change.object)}",
        f"Field: `{_said(path_text(change.path))}`",
        f"Now: `{_said(change.old)}`",
        f"Should be: `{_said(change.new)}`",
        "",
        f"Why this is a proposal and not an edit: {_said(why)}",
        *(["", f"Why this value: {_said(finding.because)}"] if finding.because else []),
    ]
    text = "\n".join(lines) + "\n"
    name = f"remediations/{change.object.name}-{slug}.md"
    return Edit(file=name, op=EditOp.CREATE, new=text)


def issue_key(cluster: str, target: Target, finding: Finding) -> str:
    """Return what two runs about the same fault in the same place have in common.

    The cluster is the one that the repository describes: alerts of one may or may not name it.
    """
    return hashing.issue_key(cluster, target.repo, target.file, finding.object, finding.cause)


def head_branch(key: str, finding: Finding) -> str:
    """Return the branch of an issue."""
    return hashing.head_branch(key, f"{finding.object.name}-{finding.cause.value}")


def plan(run_id: RunId, change: Proposed, checks: Sequence[CheckResult], base_sha: str) -> Plan:
    """Freeze a change that passed its checks; nothing about it moves after this."""
    finding = change.hypothesis.finding
    draft = Plan(
        issue_key=change.issue_key,
        target=change.target,
        base_sha=base_sha,
        head_branch=change.head_branch,
        parent_sha=base_sha,
        edits=change.edits,
        files=tuple(_file(path, change) for path in sorted(change.after)),
        diff=unified_diff(change.before, change.after),
        title=title(finding, change.edits),
        body=body(run_id, change, checks),
        risk=risk(change, checks),
        checks=tuple(checks),
        policy_version=change.policy.version,
    )
    digest = hashing.plan_hash(draft, run_id)
    return draft.model_copy(
        update={"plan_hash": digest, "body": hashing.with_trailer(draft.body, digest)}
    )


def title(finding: Finding, edits: Sequence[Edit]) -> str:
    """Say the change in one line, as a commit subject."""
    name = finding.object.name
    edit = edits[0]
    if edit.op is EditOp.CREATE:
        return _said(f"{name}: proposal for {finding.cause.value.replace('_', ' ')}", 200)
    return _said(f"{name}: {edit.path[-1]} {edit.old} -> {edit.new}", 200)


def body(run_id: RunId, change: Proposed, checks: Sequence[CheckResult]) -> str:
    """Say why, with what evidence, what was checked and how to undo it."""
    finding = change.hypothesis.finding
    why = {"Cause": finding.summary, "Value": finding.because}
    parts = [
        "## Why\n\n" + _bullets(f"{of}: {words}" for of, words in why.items() if words),
        "## Evidence\n\n" + _bullets(_cited(change.hypothesis)),
        "## Checks\n\n" + _bullets(f"{_mark(one)} {one.check}: {one.detail}" for one in checks),
        "## How this file was found\n\n" + _bullets(change.target.trace),
        "## Undo\n\nRevert this commit; nothing else was touched.",
        f"Alert: {_said(change.alert.title)} · Run: {run_id} · Risk: {risk(change, checks).value}",
    ]
    return "\n\n".join(parts) + "\n"


def risk(change: Proposed, checks: Sequence[CheckResult]) -> Risk:
    """Images, more than one small edit, and what a check could not tell need more care."""
    edits = change.edits
    small = len(edits) == 1 and edits[0].op is EditOp.SET
    image = any(str(edit.path[-1]) in {"image", "newTag"} for edit in edits if edit.path)
    told = all(check.verdict is CheckVerdict.PASS for check in checks)
    return Risk.LOW if small and told and not image else Risk.HIGH


def _file(path: str, change: Proposed) -> FileChange:
    before = change.before.get(path)
    return FileChange(
        path=path,
        mode=change.modes.get(path, NEW_FILE_MODE),
        sha256_before=hashing.sha256(before) if before is not None else "",
        sha256_after=hashing.sha256(change.after[path]),
    )


def _cited(hypothesis: Hypothesis) -> list[str]:
    by_id: Mapping[str, str] = {
        item.id: f"**{item.id}** {item.kind.value}, {item.source}: {item.query}"
        for item in hypothesis.evidence
    }
    return [by_id[one] for one in hypothesis.finding.evidence if one in by_id]


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {_said(one)}" for one in lines)


def _said(words: object, limit: int = LONGEST) -> str:
    """What others wrote, on one line: it opens no section and no tag, and ends no code."""
    return line(str(words), limit).translate(_PLAIN)


def _mark(check: CheckResult) -> str:
    marks = {CheckVerdict.PASS: "✓", CheckVerdict.FAIL: "✗", CheckVerdict.UNKNOWN: "?"}
    return marks[check.verdict]
