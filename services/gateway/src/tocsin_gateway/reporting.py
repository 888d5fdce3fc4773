"""The report of an incident, for a wiki or a mail: what happened, why, and what was done."""

from collections.abc import Callable, Iterator
from datetime import datetime

from tocsin_contracts import Evidence, Finding, Plan
from tocsin_contracts.views import RunView
from tocsin_gateway.markdown import block, code, link, words

MOST_ENTRIES = 200
MOST_EVIDENCE = 20
EXCERPT = 1500


def markdown(view: RunView) -> str:
    """Return the report of a run as Markdown; what others wrote is shown and never rendered."""
    parts = [
        (heading, lines)
        for heading, say in _SECTIONS
        if (lines := list(say(view))) or heading in _ALWAYS
    ]
    told = [f"# Incident: {words(view.title)}", "", *_head(view)]
    for heading, lines in parts:
        told += ["", f"## {heading}", "", *(lines or ["Nothing."])]
    return "\n".join(told) + "\n"


def _head(view: RunView) -> Iterator[str]:
    place = view.workload
    where = f"{place.namespace}/{place.name}" if place else "no workload is known"
    yield f"- run {code(view.run_id)}: **{view.state.value.replace('_', ' ')}**"
    yield f"- severity: {view.severity.value}; workload: {words(where)}"
    yield f"- opened {_at(view.created_at)}, last changed {_at(view.updated_at)}"
    yield f"- {view.occurrences} deliveries, {view.firing} alerts firing, {view.resolved} cleared"


def _happened(view: RunView) -> Iterator[str]:
    yield words(view.alert.summary or view.title)
    for one in view.members if len(view.members) > 1 else ():
        yield f"- {words(one.title)} ({one.status.value}) {words(one.differs)}".rstrip()
    if view.triage:
        yield from (f"- triage: {words(one)}" for one in view.triage.decisions)


def _timeline(view: RunView) -> Iterator[str]:
    hidden = max(0, len(view.timeline) - MOST_ENTRIES) + view.untold
    if hidden:
        yield f"{hidden} older entries are left out.\n"
    for entry in view.timeline[-MOST_ENTRIES:]:
        yield f"- {_at(entry.at)} {words(entry.producer)}: {words(entry.text)}"


def _cause(view: RunView) -> Iterator[str]:
    hypothesis, unclear = view.hypothesis, view.inconclusive
    if unclear:
        yield f"No cause to act on: {words(unclear.why)}\n"
        yield from (f"- came close: {_finding(one)}" for one in unclear.candidates)
        yield from _evidence([one for one in unclear.evidence if one.excerpt][:MOST_EVIDENCE])
    elif hypothesis:
        finding = hypothesis.finding
        yield f"**{hypothesis.verdict.value}**: {_finding(finding)}"
        if finding.because:
            yield f"\n{words(finding.because)}"
        yield from (f"- {words(one.text)}" for one in hypothesis.claims)
        if hypothesis.disproof:
            yield f"- it would be wrong if: {words(hypothesis.disproof)}"
        cited = [one for one in hypothesis.evidence if one.id in finding.evidence]
        yield from _evidence(cited[:MOST_EVIDENCE])


def _finding(finding: Finding) -> str:
    about = f"{finding.cause.value}, {finding.confidence:.0%}, {finding.object}"
    return f"{words(finding.summary)} ({words(about)})"


def _evidence(seen: list[Evidence]) -> Iterator[str]:
    for one in seen:
        yield f"\nEvidence {code(one.id)} of {words(one.source)} at {_at(one.at)}:"
        yield f"{code(one.query)}\n"
        yield block(one.excerpt, limit=EXCERPT)


def _ruled_out(view: RunView) -> Iterator[str]:
    hypothesis = view.hypothesis
    for one in hypothesis.rejections if hypothesis else ():
        yield f"- {one.cause.value}: {words('; '.join(one.reasons)) or 'no reason is known'}"
    for other in hypothesis.alternatives if hypothesis else ():
        yield f"- weaker: {_finding(other)}"
    for considered in view.plan.alternatives if view.plan else ():
        yield f"- {words(considered.what)}: {words(considered.why_not)}"


def _checks(view: RunView) -> Iterator[str]:
    for one in view.checks:
        yield f"- {one.verdict.value}: {words(one.check)}: {words(one.detail)}"


def _decision(view: RunView) -> Iterator[str]:
    approval = view.approval
    if approval is None:
        return
    for one in approval.decisions:
        why = f": {words(one.reason)}" if one.reason else ""
        yield f"- {words(one.by)} by {words(one.surface)} at {_at(one.decided_at)}{why}"
    yield f"- in all: **{approval.state.value}**, plan {code(approval.plan_hash[:12])}"


def _change(view: RunView) -> Iterator[str]:
    if view.plan:
        yield from _plan(view.plan)
    if view.pull_request:
        yield f"\nPull request: {link(view.pull_request.url)}"


def _plan(plan: Plan) -> Iterator[str]:
    yield f"{words(plan.title)}\n"
    yield f"- {code(plan.target.file)} in {code(plan.target.repo)}, plan {code(plan.plan_hash)}"
    yield f"- risk: {plan.risk.value}"
    yield from (f"- because {words(one)}" for one in plan.risk_reasons)
    yield from (f"- effect: {words(one)}" for one in plan.effects)
    yield "\n" + block(plan.diff, "diff")


def _outcome(view: RunView) -> Iterator[str]:
    if view.finished:
        ended = view.finished
        yield f"**{ended.outcome.value.replace('_', ' ')}**: {words(ended.sentence)}"
    else:
        yield f"The run goes on: it is {view.state.value.replace('_', ' ')}."


def _cost(view: RunView) -> Iterator[str]:
    use = view.model_use
    if use is None:
        yield "No model was asked."
        return
    cost = "at an unknown price" if use.cost is None else f"for ${use.cost:.4f}"
    models = ", ".join(map(words, use.models)) or "no model answered"
    yield (
        f"{models}: {use.model_calls} calls, {use.tool_calls} of tools, {use.tokens} tokens, "
        f"{use.seconds:.0f} s, {cost}."
    )


def _at(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} {at.tzname()}"


_SECTIONS: tuple[tuple[str, Callable[[RunView], Iterator[str]]], ...] = (
    ("What happened", _happened),
    ("Timeline", _timeline),
    ("Cause", _cause),
    ("What was ruled out", _ruled_out),
    ("Checks", _checks),
    ("Decision", _decision),
    ("Change", _change),
    ("Outcome", _outcome),
    ("Cost", _cost),
)
_ALWAYS = ("Cause", "Decision", "Change")
