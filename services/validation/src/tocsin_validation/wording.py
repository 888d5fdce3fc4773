"""The words of a pull request: all that people need to decide, in bounds that every forge takes."""

import re
from collections.abc import Iterable, Iterator, Sequence

from tocsin_contracts import Alert, CheckResult, CheckVerdict, Considered, Evidence, RunId
from tocsin_gitops import messages
from tocsin_gitops.diffs import reverse_diff
from tocsin_gitops.replacing import replaced
from tocsin_kit.untrusted import clean, line
from tocsin_validation.outlook.risk import Judged
from tocsin_validation.ports import Proposed

LONGEST = 500
"""Most characters of one thing that others wrote."""

MOST = 60_000
"""Most characters of a body: GitHub takes 65,536, and escapes come on top."""

_SECTION = 7_000
_PLAIN = str.maketrans({"`": "'", "<": "\u2039"})
_MARKS = {CheckVerdict.PASS: "✓", CheckVerdict.FAIL: "✗", CheckVerdict.UNKNOWN: "?"}
_CALLS = str.maketrans({"@": "\uff20", "#": "\uff03"})
_CALLING = re.compile(r"(?<!\w)@(?=\w)|#(?=\d)")
_FENCE = re.compile(r"`{3,}")
_NO_PATCH = "Revert this commit with `git revert`; nothing else was touched."


def said(words: object, limit: int = LONGEST) -> str:
    """What others wrote, on one line: it opens no section and no tag, and ends no code."""
    return line(str(words), limit).translate(_PLAIN)


def reasons(change: Proposed) -> tuple[str, ...]:
    """Return why the change is proposed: the cause, how sure that is, and why this value."""
    hypothesis = change.hypothesis
    finding = hypothesis.finding
    cause = finding.cause.value.replace("_", " ")
    why = (f"Cause: {finding.summary}", f"Verdict: {hypothesis.verdict.value}, {cause}")
    return (*why, f"Value: {finding.because}") if finding.because else why


def alternatives(change: Proposed) -> tuple[Considered, ...]:
    """Return what else was thought of: other values, weaker causes, and causes ruled out."""
    hypothesis = change.hypothesis
    sure = hypothesis.finding.confidence
    others = (
        Considered(
            what=one.summary.rstrip("."),
            why_not=f"less sure: {one.confidence:.0%} against {sure:.0%}",
        )
        for one in hypothesis.alternatives
    )
    ruled_out = (
        Considered(
            what=one.cause.value.replace("_", " "),
            why_not=f"ruled out by checks{': ' if one.reasons else ''}{'; '.join(one.reasons)}",
        )
        for one in hypothesis.rejections
    )
    return (*hypothesis.finding.considered, *others, *ruled_out)


def body(
    run_id: RunId, change: Proposed, judged: Judged, why: Sequence[str], console: str = ""
) -> str:
    """Say why, with what evidence, what was checked, what it does and how to undo it.

    It ends with trailers, which the commit gets as well. `console` is the address of the console.
    """
    sections = (
        ("Why", _bullets(why)),
        ("Evidence", _bullets(_cited(one) for one in _evidence(change))),
        ("What else was considered", _bullets(map(_considered, alternatives(change)))),
        ("What it changes in the cluster", _bullets(judged.effects)),
        ("Risk", _bullets([judged.risk.value.capitalize(), *judged.reasons])),
        ("Checks", _checked(judged.checks)),
        ("How this file was found", _bullets(change.target.trace)),
        ("After the merge", _bullets(replaced(change.edits))),
    )
    parts = [f"## {title}\n\n{text}" for title, text in sections if text]
    end = [_run(run_id, change.alert, console), _trailers(run_id, change)]
    room = MOST - sum(len(part) + 2 for part in (*parts, *end))
    return "\n\n".join((*parts, f"## Undo\n\n{_undo(change, room)}", *end)) + "\n"


def _quiet(words: object) -> str:
    """The same, calling nobody by name and closing nothing by number when it is merged."""
    return _CALLING.sub(lambda found: found.group().translate(_CALLS), said(words))


def _undo(change: Proposed, room: int) -> str:
    """The patch that takes the change back, if a block of text keeps every byte of it."""
    patch = reverse_diff(change.before, change.after)
    longest = max((len(ticks) for ticks in _FENCE.findall(patch)), default=2)
    fence = "`" * (longest + 1)
    shown = (
        "Save this as a file and run `git apply` on it, or revert this commit; nothing else was "
        f"touched.\n\n<details><summary>The patch</summary>\n\n{fence}diff\n{patch}{fence}\n\n"
        "</details>"
    )
    keeps = clean(patch, len(patch)).text == patch and patch.endswith("\n")
    return shown if keeps and len(shown) + len("## Undo\n\n") <= room else _NO_PATCH


def _run(run_id: RunId, alert: Alert, console: str) -> str:
    where = f"{console.rstrip('/')}/runs/{run_id}" if console else run_id
    return f"Alert: {_quiet(alert.title)} · Run: {where}"


def _trailers(run_id: RunId, change: Proposed) -> str:
    """Where a commit comes from, for programs; the hash of the plan is added when it is frozen."""
    alert = change.alert
    return messages.paragraph(
        {
            "Run": run_id,
            "Issue": said(change.issue_key),
            "Cause": change.hypothesis.finding.cause.value,
            "Alert": said(f"{alert.source} {alert.fingerprint}"),
        }
    )


def _evidence(change: Proposed) -> Iterator[Evidence]:
    by_id = {one.id: one for one in change.hypothesis.evidence}
    yield from (by_id[one] for one in change.hypothesis.finding.evidence if one in by_id)


def _cited(one: Evidence) -> str:
    seen_in = f" ({one.ref})" if one.ref and one.ref not in one.query else ""
    return f"**{one.id}** {one.kind.value}, {one.source}: {one.query}{seen_in}"


def _considered(one: Considered) -> str:
    return f"{said(one.what, 240)}: {one.why_not}"


def _checked(checks: Sequence[CheckResult]) -> str:
    """What did not pass first; what did is folded away."""
    opened = [_verdict(one) for one in checks if one.verdict is not CheckVerdict.PASS]
    passed = [_verdict(one) for one in checks if one.verdict is CheckVerdict.PASS]
    folded = f"<details><summary>{len(passed)} passed</summary>\n\n{_bullets(passed)}\n\n</details>"
    parts = [_bullets(opened)] if opened else []
    return "\n\n".join((*parts, folded) if passed else parts)


def _verdict(check: CheckResult) -> str:
    todo = f" To do: {check.action}." if check.action else ""
    return f"{_MARKS[check.verdict]} {check.check}: {check.detail}" + (todo and f".{todo}")


def _bullets(told: Iterable[str]) -> str:
    """One line each, as many as there is room for, and how many are left out."""
    lines = [f"- {_quiet(one)}" for one in told]
    kept, length = 0, 0
    while kept < len(lines) and length + len(lines[kept]) < _SECTION:
        length += len(lines[kept]) + 1
        kept += 1
    left = len(lines) - kept
    more = [f"- … and {left} more, which the run shows"] if left else []
    return "\n".join((*lines[:kept], *more))
