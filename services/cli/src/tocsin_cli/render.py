"""Runs as a person reads them: a list, and one run in sections that appear as it goes on."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.text import Text

from tocsin_cli.terminal import aligned, one_line, plain
from tocsin_contracts import (
    CheckVerdict,
    Evidence,
    EvidenceKind,
    Hypothesis,
    ModelUse,
    Plan,
    Risk,
    Severity,
)
from tocsin_contracts.views import (
    ApprovalState,
    ApprovalView,
    BudgetView,
    InconclusiveView,
    RunSummary,
    RunView,
    TriageView,
)

_EXCERPT = 160
_MEMBERS, _ENTRIES = 10, 100
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
    """One part of a run, as it is shown; a part that changed has another key."""

    key: str
    shown: Sequence[Text]


def run_list(runs: Sequence[RunSummary]) -> Text:
    """Return one line for each run, in columns that are never cut."""
    head, *lines = aligned([_COLUMNS, *map(_cells, runs)])
    text = Text(head, "bold", no_wrap=True)
    for run, line in zip(runs, lines, strict=True):
        text.append(f"\n{line}", "dim" if run.state.terminal else "")
    return text


def sections(view: RunView) -> Iterator[Section]:
    """Yield what is known about a run, in the order in which it comes to be known."""
    yield from _beginning(view)
    if view.hypothesis is not None:
        attempt = view.hypothesis.attempt
        cited = view.hypothesis.finding.evidence
        yield Section(f"evidence {attempt}", [_evidence(view.hypothesis.evidence, cited)])
        yield Section(f"cause {attempt}", [_cause(view.hypothesis)])
    if view.inconclusive is not None:
        yield Section(f"closest {view.inconclusive!r}", _closest(view.inconclusive))
    if view.checks:
        yield Section(f"checks {view.checks!r}", [_checks(view)])
    if view.plan is not None:
        yield Section(f"plan {view.plan.plan_hash}", plan(view.plan))
    if view.approval is not None:
        yield Section(f"approval {view.approval!r}", [_approval(view.approval)])
    if view.pull_request is not None:
        opened = view.pull_request
        lines = (opened.title, f"{opened.head_branch} in {opened.repo}", f"commit {opened.commit}")
        yield Section("pull request", [_titled("pull request", *lines, opened.url)])
    if view.finished is not None:
        ended = f"{view.finished.outcome.value} ({view.finished.reason.value})"
        yield Section("ended", [_titled("ended", ended, view.finished.sentence)])


def _beginning(view: RunView) -> Iterator[Section]:
    yield Section("alert", [_alert(view)])
    if view.incident_parts:
        yield Section("incident", [_incident(view)])
    if view.triage is not None:
        yield Section(f"triage {view.triage!r}", [_triage(view.triage)])
    if view.budget is not None:
        yield Section(f"budget {view.budget!r}", [_budget(view.budget)])
    if view.model_use is not None and not (view.budget and view.budget.waits):
        yield Section(f"model {view.model_use!r}", [_model(view.model_use)])


def plan(plan: Plan) -> Sequence[Text]:
    """Return everything that an approval of this plan covers."""
    title = _titled("plan", plan.title, f"{plan.target.file} in {plan.target.repo}")
    for step in plan.target.trace:
        title.append(f"\n  . {one_line(step)}", "dim")
    bound = Text("  risk  ").append(plan.risk.value, "green" if plan.risk is Risk.LOW else "red")
    bound.append("".join(f"\n  . {one_line(x)}" for x in plan.risk_reasons + plan.effects), "dim")
    bound.append("\n  hash  ", "default").append(plan.plan_hash, "bold")
    return title, Text(), diff(plan.diff), bound


def diff(unified: str) -> Text:
    """Return a unified diff, indented, every character of it visible."""
    text = Text(no_wrap=True)
    for line in unified.removesuffix("\n").split("\n"):
        style = next((style for start, style in _DIFF_STYLES if line.startswith(start)), "")
        text.append(f"  {plain(line)}\n", style)
    return text


def timeline(view: RunView) -> Text:
    """Return the newest facts of a run, one a line."""
    told = view.timeline[-_ENTRIES:]
    hidden = len(view.timeline) - len(told) + view.untold
    rows = aligned([(_time(entry.at), entry.producer, entry.text) for entry in told])
    return _indented("timeline", [f"{hidden} older entries", *rows] if hidden else rows)


def _cells(run: RunSummary) -> tuple[str, ...]:
    updated, alerts = _time(run.updated_at), str(run.occurrences)
    place, state, severity = _workload(run), run.state.value, run.severity.value
    return run.run_id, state, severity, place, updated, alerts, run.title


def _alert(view: RunView) -> Text:
    text = _titled("alert").append(f"  {view.severity.value}", _LOUD.get(view.severity, ""))
    container = view.workload.container if view.workload else ""
    where = _workload(view) if view.workload else "no workload is known"
    place = where + (f", container {container}" if container else "")
    text.append(f"  {one_line(view.title)}\n  {one_line(place)}")
    return text.append(f"\n  {one_line(view.alert.summary)}" if view.alert.summary else "")


def _incident(view: RunView) -> Text:
    """Say why its alerts are one incident, how often they came, and how each of them stands."""
    common = ", ".join(f"{name} {text}" for name, text in view.incident_parts.items())
    times = "delivery" if view.occurrences == 1 else "deliveries"
    counts = [f"{view.firing} firing, {view.resolved} cleared, {view.occurrences} {times}"]
    if view.first_seen and view.last_seen:
        counts.append(f"seen from {_time(view.first_seen)} to {_time(view.last_seen)}")
    members = [(m.status.value, m.severity.value, m.title, m.differs) for m in view.members]
    shown = aligned(members[:_MEMBERS]) if len(members) > 1 else []
    more = [f"and {len(members) - _MEMBERS} more"] if len(members) > _MEMBERS else []
    return _indented("incident", [one_line(f"same {common}"), *counts, *shown, *more])


def _triage(triage: TriageView) -> Text:
    """Say what was decided, who has to know, and what belongs together."""
    named = {"team": triage.team, "environment": triage.environment, "freeze": triage.freeze}
    lines = [f"{name} {value}" for name, value in named.items() if value]
    if triage.superseded_by:
        lines.append(f"go on with run {triage.superseded_by}")
    joined = [f"joined by {one.alert.title}, run {one.run_id}: {one.why}" for one in triage.joined]
    return _titled("triage", *triage.decisions, *lines, *joined)


def _budget(budget: BudgetView) -> Text:
    waits = "waits for a person" if budget.waits else "was answered"
    said = (f"so far: {budget.so_far}",) if budget.so_far else ()
    return _titled("budget", f"{waits}: {budget.exhausted}", *said)


def _model(use: ModelUse) -> Text:
    """Say what asking a model took; a cost that nobody knows is unknown, not nothing."""
    cost = "unknown cost" if use.cost is None else f"${use.cost:.4f}"
    names = ", ".join(use.models) or "no answer"
    calls = f"{use.model_calls} calls, {use.tool_calls} of tools, {use.tokens} tokens"
    return _titled("model", f"{names}: {calls}, {use.seconds:.0f} s, {cost}")


def _evidence(seen: Sequence[Evidence], ids: Collection[str]) -> Text:
    """Show what is cited; the rest is only counted."""
    shown = [e for e in seen if e.id in ids]
    text = _indented("evidence", aligned([(e.id, _gist(e)) for e in shown]))
    others = len(seen) - len(shown)
    return text.append(f"\n  and {others} more that were looked at", "dim")


def _gist(evidence: Evidence) -> str:
    if evidence.kind in (EvidenceKind.OBJECT, EvidenceKind.POD):
        return evidence.query
    said = f"{evidence.query}: " + evidence.excerpt.partition("\n")[0]
    return said if len(said) <= _EXCERPT else f"{said[: _EXCERPT - 1]}…"


def _closest(found: InconclusiveView) -> Sequence[Text]:
    """Show what came closest, what it rests on, and what could not be seen."""
    cited = {id for finding in found.candidates for id in finding.evidence}
    missing = [e.id for e in found.evidence if e.kind is EvidenceKind.MISSING][:_MEMBERS]
    near = [
        f"{one.cause.value} ({one.confidence:.2f}): {one.summary} [{', '.join(one.evidence)}]"
        for one in found.candidates[:_MEMBERS]
    ]
    evidence = _evidence(found.evidence, cited.union(missing))
    return (evidence, Text(), _titled("no cause to act on; closest", *near or ("nothing",)))


def _cause(hypothesis: Hypothesis) -> Text:
    finding = hypothesis.finding
    sure = f"{finding.cause.value}, {hypothesis.verdict.value} ({finding.confidence:.2f})"
    proof = f"shown by {', '.join(finding.evidence)}"
    because = [finding.because] if finding.because else []
    because += [f"{claim.text} [{', '.join(claim.evidence)}]" for claim in hypothesis.claims]
    if hypothesis.disproof:
        because.append(f"wrong if: {hypothesis.disproof}")
    return _titled("cause", sure, finding.summary, *because, proof)


def _checks(view: RunView) -> Text:
    text = _titled("checks")
    for check in view.checks:
        mark, style = _MARKS[check.verdict]
        text.append(f"\n  {mark:<4} ", style).append(one_line(f"{check.check}: {check.detail}"))
    return text


def _approval(approval: ApprovalView) -> Text:
    if approval.state is ApprovalState.PENDING:
        said = [one.by for one in approval.decisions]
        counted = f"; {len(said)} of {approval.required} said yes: {', '.join(said)}" * bool(said)
        return _titled("approval", f"waits until {_time(approval.expires_at)}{counted}")
    by = f" by {approval.decided_by}" if approval.decided_by else ""
    at = f" at {_time(approval.decided_at)}" if approval.decided_at else ""
    said = [f"{'BREAK-GLASS: ' * d.break_glass}{d.by}: {d.reason}" for d in approval.decisions]
    head = f"{approval.state.value}{by}{at}, plan {approval.plan_hash[:12]}"
    return _titled("approval", head, *(one.removesuffix(": ") for one in said))


def _titled(title: str, *lines: str) -> Text:
    return _indented(title, map(one_line, lines))


def _indented(title: str, lines: Iterable[str]) -> Text:
    return Text().append(title, "bold").append("".join(f"\n  {line}" for line in lines))


def _workload(run: RunSummary) -> str:
    if run.workload is None:
        return "-"
    place = f"{run.workload.namespace}/{run.workload.name}"
    return f"{place} on {run.workload.cluster}" if run.workload.cluster else place


def _time(at: datetime) -> str:
    return at.astimezone().isoformat(" ", "seconds")
