"""Events as messages: pure text, with the exact change and what the reader can do."""

from tocsin_contracts import (
    ApprovalDenied,
    ApprovalEscalated,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    BudgetExhausted,
    Decision,
    EndReason,
    Event,
    FixIneffective,
    IncidentOpened,
    PullRequestFound,
    PullRequestMerged,
    PullRequestOpened,
    PullRequestUpdated,
    RunEscalated,
    RunFinished,
    RunState,
    StormEnded,
    StormStarted,
)
from tocsin_contracts.amending import AmendmentRefused
from tocsin_kit.redaction import Redactor
from tocsin_kit.run_view import Run
from tocsin_kit.untrusted import line
from tocsin_notifier import wording
from tocsin_notifier.ports import Message

DIFF_LIMIT = 2400
"""Characters of a diff that a message shows; the API and the console show it whole."""

LINE, SENTENCE = 200, 1000
"""Characters of a title or a line of a list, and of a sentence, that others may have written."""

_MASKING = Redactor()
"""More people read a channel than may read the repository."""

ESCALATES = "validation"
"""The service that escalates with `RunEscalated`, which tells more than the end of the run."""


def render(event: Event, run: Run | None = None) -> Message | None:
    """Return the message of an event, or None where people need not hear of it.

    Who has to take over is told what the record of the run knows.
    """
    said = _new(event) or _approval(event) or _known_run(event, run) or _pulled(event)
    if said is None:
        return None
    title, text = said
    told = "\n".join(filter(None, (_said(wording.about(run), LINE), text)))
    return Message(id=event.id, run_id=event.run_id, title=_said(title, LINE), text=told)


def _new(event: Event) -> tuple[str, str] | None:
    """Title and text of what triage decided; the runs of a storm are told by its digest."""
    match event:
        case IncidentOpened() if not event.storm:
            return f"Investigating {event.alert.title}", _opened(event)
        case StormStarted():
            return f"Storm: {event.new_runs} new runs", _stormy(event)
        case StormEnded():
            return f"Storm over: {event.new_runs} runs", _digest(event)
        case _:
            return None


def _known_run(event: Event, run: Run | None) -> tuple[str, str] | None:
    """Title and text of what became of a run."""
    title = text = ""
    match event:
        case BudgetExhausted():
            title, text = "The investigation asks for a larger budget", _asking(event)
        case RunEscalated():
            title, text = f"Needs a person: {event.alert.title}", _known(event, run)
        case RunFinished() if not _is_told_already(event):
            ended = event.outcome.value.replace("_", " ")
            title, text = f"Run ended: {ended}", _known(event, run)
    return (title, text) if title else None


def _approval(event: Event) -> tuple[str, str] | None:
    """Title and text of a question, and of what people say to it."""
    title = text = ""
    match event:
        case ApprovalRequested():
            title, text = f"Approve? {event.plan.title}", _question(event)
        case ApprovalReminded():
            title, text = f"Still undecided: {event.title}", _reminder(event)
        case ApprovalEscalated():
            title, text = f"More people may decide: {event.title}", _escalated(event)
        case ApprovalRecorded():
            title = f"{event.given} of {event.required} said yes: {event.decision.by}"
            text = _decision(event.decision)
        case ApprovalGranted() | ApprovalDenied():
            title, text = _decided(event), _decision(event.decision)
        case AmendmentRefused():
            title = f"The plan stays as it is: {event.by} wanted other values"
            text = f"Plan {event.plan_hash[:12]} stays, undecided: {_said(event.why)}"
    return (title, text) if title else None


def _pulled(event: Event) -> tuple[str, str] | None:
    """Title and text of what became of a pull request."""
    title = text = ""
    match event:
        case PullRequestOpened():
            title, text = f"Pull request opened: {event.title}", _said(event.url)
        case PullRequestUpdated():
            title, text = f"Commit added to a pull request: {event.title}", _said(event.url)
        case PullRequestFound():
            title, text = f"A pull request is open already: {event.title}", _found(event)
        case PullRequestMerged():
            title, text = "Merged: the alerts are watched", _said(event.url)
        case FixIneffective():
            title, text = f"The fix did not help: {event.plan.title}", _ineffective(event)
    return (title, text) if title else None


def _is_told_already(ended: RunFinished) -> bool:
    """Whether nobody needs to hear of it: triage decided so, or `RunEscalated` tells it."""
    if ended.reason in (EndReason.CLOSED_BY_PERSON, EndReason.DENIED_BY_APPROVER):
        return False
    escalated = ended.outcome is RunState.ESCALATED and ended.producer == ESCALATES
    return escalated or ended.outcome in (RunState.SUPPRESSED, RunState.SUPERSEDED)


def _opened(event: IncidentOpened) -> str:
    named = {"Team": event.team, "environment": event.environment}
    whose = ", ".join(f"{name} {value}" for name, value in named.items() if value)
    lines = [event.alert.summary, f"{whose}." if whose else "", _frozen(event.freeze)]
    return "\n".join(_said(line) for line in lines if line)


def _frozen(freeze: str) -> str:
    return f"Changes have to wait: {freeze}." if freeze else ""


def _stormy(event: StormStarted) -> str:
    return (
        f"More new runs in {event.window_seconds:g} s than are no storm. Those with one root share "
        "one run, and the most severe are investigated first. A digest follows when it is over."
    )


def _digest(event: StormEnded) -> str:
    began = f"It began at {event.started_at:%Y-%m-%d %H:%M} UTC."
    roots = [_said(f"- {one.root}: {one.runs} runs, see {one.leader}", LINE) for one in event.roots]
    more = [f"… {event.more_roots} more"] if event.more_roots else []
    return "\n".join([began, *roots, *more])


def _asking(event: BudgetExhausted) -> str:
    lines = [f"It nears a limit: {event.exhausted}. Unanswered, it ends with what it has."]
    if event.so_far:
        lines.append(f"So far: {_said(event.so_far)}")
    run = event.run_id
    lines.append(f"Decide: tocsin run extend {run} --calls 10  or  tocsin run extend {run} --end")
    return "\n".join(lines)


def _question(event: ApprovalRequested) -> str:
    plan, finding = event.plan, event.hypothesis.finding
    passed = sum(check.verdict == "pass" for check in plan.checks)
    place = f"Repository {plan.target.repo}, file {plan.target.file}, risk {plan.risk.value}."
    return "\n".join(
        [
            _said(f"Cause: {finding.summary}"),
            f"Confidence {finding.confidence:.0%}, {passed} of {len(plan.checks)} checks passed.",
            _said(place),
            *([_said(_frozen(event.freeze))] if event.freeze else []),
            *([_said(f"Team {event.team}.")] if event.team else []),
            *([_said(f"Needs a yes of {event.needs}.")] if event.needs else []),
            *([_said(f"Owners: {event.owners}.")] if event.owners else []),
            *(
                _said(f"{a.by} changed {', '.join(a.changes)}.")
                for a in event.hypothesis.amendments
            ),
            f"Plan {plan.short_hash}, decide before {event.expires_at:%Y-%m-%d %H:%M} UTC.",
            "```",
            _capped(_MASKING.text(plan.diff)),
            "```",
            f"Decide: tocsin run approve {event.run_id}  or  tocsin run reject {event.run_id}",
        ]
    )


def _reminder(event: ApprovalReminded) -> str:
    return (
        f"Plan {event.plan_hash[:12]} ends undecided at {event.expires_at:%Y-%m-%d %H:%M} UTC. "
        f"Look: tocsin run show {event.run_id}"
    )


def _escalated(event: ApprovalEscalated) -> str:
    return (
        f"Nobody has decided; {_said(', '.join(event.approvers))} may now. Plan "
        f"{event.plan_hash[:12]}, before {event.expires_at:%Y-%m-%d %H:%M} UTC. "
        f"Look: tocsin run show {event.run_id}"
    )


def _found(event: PullRequestFound) -> str:
    return f"{_said(event.url)}\nNothing else is proposed: {_said(event.why)}."


def _ineffective(event: FixIneffective) -> str:
    return f"{_said(event.url)}\n{_said(event.why)}. An exact undo is looked for; it needs a yes."


def _decided(event: ApprovalGranted | ApprovalDenied) -> str:
    if event.decision.break_glass:
        return f"BREAK-GLASS: {event.decision.by} approved alone, past the rules of who has to"
    said = "Approved" if isinstance(event, ApprovalGranted) else "Rejected"
    return f"{said} by {event.decision.by}"


def _decision(decision: Decision) -> str:
    text = f"Plan {decision.plan_hash[:12]}, {decision.decided_at:%H:%M:%S} UTC."
    return f"{text} Reason: {_said(decision.reason)}" if decision.reason else text


def _known(event: RunEscalated | RunFinished, run: Run | None) -> str:
    taken_over = isinstance(event, RunEscalated) or event.outcome is RunState.ESCALATED
    known = wording.known(event, run) if taken_over else ()
    return "\n".join([_said(event.sentence), *(_said(each, LINE) for each in known)])


def _said(text: str, limit: int = SENTENCE) -> str:
    """Return a text on one line that neither forges a line of ours nor opens a box."""
    return _unfenced(line(text, limit))


def _capped(diff: str) -> str:
    """Cut a long diff at a line, and keep its text from closing the box it is shown in."""
    if len(diff) > DIFF_LIMIT:
        kept = diff[:DIFF_LIMIT].rsplit("\n", 1)[0]
        more = len(diff.splitlines()) - len(kept.splitlines())
        diff = f"{kept}\n… {more} more lines"
    return _unfenced(diff.rstrip("\n"))


def _unfenced(text: str) -> str:
    return text.replace("```", "'''")
