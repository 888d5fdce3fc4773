"""Runs as a person reads them: a list, and one run in sections that appear as it goes on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.text import Text

from tocsin_cli.terminal import plain
from tocsin_contracts import CheckVerdict, Evidence, EvidenceKind, Hypothesis, Plan, Risk, Severity
from tocsin_contracts.views import ApprovalState, ApprovalView, RunSummary, RunView

_EXCERPT = 160
_LOUD = {Severity.CRITICAL: "bold red", Severity.WARNING: "yellow"}
_MARKS = {
    CheckVerdict.PASS: ("pass", "green"),
    CheckVerdict.FAIL: ("FAIL", "bold red"),
    CheckVerdict.UNKNOWN: ("?", "yellow"),
}
_COLUMNS = ("run", "state", "severity", "workload", "updated", "alerts", "title")
_DIFF_STYLES = (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green"), ("-", "red"))


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a run; a part that changed has another key."""

    key: str
    text: Text


def run_list(runs: Sequence[RunSummary]) -> Text:
    """Return one line for each run, in columns that are never cut."""
    rows = [_COLUMNS, *map(_cells, runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = iter(["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows])
    text = Text().append(next(lines), "bold")
    for run, line in zip(runs, lines, strict=True):
        text.append(f"\n{line}", "dim" if run.state.terminal else "")
    return text


def sections(view: RunView) -> Iterator[Section]:
    """Yield what is known about a run, in the order in which it comes to be known."""
    yield Section("alert", _alert(view))
    if view.hypothesis is not None:
        attempt = view.hypothesis.attempt
        yield Section(f"evidence {attempt}", _evidence(view.hypothesis))
        yield Section(f"cause {attempt}", _cause(view.hypothesis))
    if view.checks:
        yield Section(f"checks {view.checks!r}", _checks(view))
    if view.plan is not None:
        yield Section(f"plan {view.plan.plan_hash}", plan(view.plan))
    if view.approval is not None:
        key = f"approval {view.approval.id} {view.approval.state}"
        yield Section(key, _approval(view.approval))
    if view.pull_request is not None:
        opened = view.pull_request
        lines = (opened.title, f"{opened.repo}  {opened.head_branch}", f"commit {opened.commit}")
        yield Section("pull request", _titled("pull request", *lines, opened.url))
    if view.finished is not None:
        ended = f"{view.finished.outcome.value} ({view.finished.reason.value})"
        yield Section("ended", _titled("ended", ended, view.finished.sentence))


def plan(plan: Plan) -> Text:
    """Return everything that an approval of this plan covers."""
    text = _titled("plan", plan.title, f"{plan.target.repo}  {plan.target.file}")
    for step in plan.target.trace:
        text.append(f"\n  . {plain(step)}", "dim")
    text.append("\n\n").append_text(diff(plan.diff))
    text.append("\n  risk  ").append(plan.risk.value, "red" if plan.risk is Risk.HIGH else "green")
    return text.append("\n  hash  ").append(plan.plan_hash, "bold")


def diff(unified: str) -> Text:
    """Return a unified diff, every character of it visible."""
    text = Text()
    for line in unified.splitlines():
        style = next((style for start, style in _DIFF_STYLES if line.startswith(start)), "")
        text.append(f"{plain(line)}\n", style)
    return text


def timeline(view: RunView) -> Text:
    """Return the facts of a run, one a line."""
    entries = (f"{_time(e.at)}  {e.producer:<10}  {e.text}" for e in view.timeline)
    return _titled("timeline", *entries)


def _cells(run: RunSummary) -> tuple[str, ...]:
    updated, alerts = _time(run.updated_at), str(run.occurrences)
    place = plain(_workload(run))
    return run.run_id, run.state.value, run.severity.value, place, updated, alerts, plain(run.title)


def _alert(view: RunView) -> Text:
    text = _titled("alert").append(f"  {view.severity.value}", _LOUD.get(view.severity, ""))
    container = view.workload.container if view.workload else ""
    place = _workload(view) + (f", container {container}" if container else "")
    text.append(f"  {plain(view.title)}\n  {plain(place)}")
    return text.append(f"\n  {plain(view.alert.summary)}" if view.alert.summary else "")


def _evidence(hypothesis: Hypothesis) -> Text:
    """Show what the cause rests on; the rest is only counted."""
    cited = [e for e in hypothesis.evidence if e.id in hypothesis.finding.evidence]
    text = _titled("evidence", *(f"{e.id:<4} {_gist(e)}" for e in cited))
    others = len(hypothesis.evidence) - len(cited)
    return text.append(f"\n  and {others} more that were looked at", "dim")


def _gist(evidence: Evidence) -> str:
    if evidence.kind in (EvidenceKind.OBJECT, EvidenceKind.POD):
        return evidence.query
    first_line = evidence.excerpt.partition("\n")[0]
    said = f"{evidence.query}: {first_line}"
    return said if len(said) <= _EXCERPT else f"{said[: _EXCERPT - 1]}…"


def _cause(hypothesis: Hypothesis) -> Text:
    finding = hypothesis.finding
    sure = f"{finding.cause.value}, {hypothesis.verdict.value} ({finding.confidence:.2f})"
    proof = f"shown by {', '.join(finding.evidence)}"
    because = (finding.because,) if finding.because else ()
    return _titled("cause", sure, finding.summary, *because, proof)


def _checks(view: RunView) -> Text:
    text = _titled("checks")
    for check in view.checks:
        mark, style = _MARKS[check.verdict]
        text.append(f"\n  {mark:<4} ", style).append(plain(f"{check.check}: {check.detail}"))
    return text


def _approval(approval: ApprovalView) -> Text:
    if approval.state is ApprovalState.PENDING:
        return _titled("approval", f"waits for a decision until {_time(approval.expires_at)}")
    by = f" by {approval.decided_by}" if approval.decided_by else ""
    at = f" at {_time(approval.decided_at)}" if approval.decided_at else ""
    return _titled("approval", f"{approval.state.value}{by}{at}, plan {approval.plan_hash[:12]}")


def _titled(title: str, *lines: str) -> Text:
    text = Text().append(title, "bold")
    for line in lines:
        text.append(f"\n  {plain(line)}")
    return text


def _workload(run: RunSummary) -> str:
    if run.workload is None:
        return "-"
    place = f"{run.workload.namespace}/{run.workload.name}"
    return f"{place} on {run.workload.cluster}" if run.workload.cluster else place


def _time(at: datetime) -> str:
    return at.astimezone().isoformat(" ", "seconds")
