"""Runs as people look at them: records in, views out."""

from collections.abc import Sequence
from dataclasses import asdict

from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    AlertResolved,
    AlertSuppressed,
    ApprovalDenied,
    ApprovalEscalated,
    ApprovalExpired,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    BudgetExhausted,
    BudgetExtended,
    Event,
    HypothesisFormed,
    HypothesisRejected,
    IncidentOpened,
    InvestigationInconclusive,
    ModelUse,
    Novelty,
    PlanDrafted,
    PlanStale,
    RelatedAlert,
    RunCancelRequested,
    RunEscalated,
    RunFinished,
    RunState,
    RunSuperseded,
    StormEnded,
    StormStarted,
)
from tocsin_contracts.views import (
    ApprovalView,
    BudgetView,
    FinishedView,
    InconclusiveView,
    MemberView,
    RunSummary,
    RunView,
    TimelineEntry,
)
from tocsin_gateway import pulls
from tocsin_gateway.triage import triage
from tocsin_kit.approvals import Approval
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally

_NOVELTIES = {
    Novelty.NOTHING: "still fires",
    Novelty.ALERT: "fires too",
    Novelty.EPISODE: "fires again",
    Novelty.SEVERITY: "became more severe",
    Novelty.TEXT: "says something else",
}


def incident_key(run: Run) -> str:
    """Return the key under which the receiver counts what belongs to a run."""
    accepted = run.fact(AlertAccepted)
    return accepted.incident_key if accepted else ""


def summary(run: Run, tally: Tally | None = None) -> RunSummary | None:
    """Return one line about a run; None for a record that does not know its alert."""
    accepted = run.fact(AlertAccepted)
    if accepted is None:
        return None
    counted, finished = tally or _told(run, accepted), run.fact(RunFinished)
    return RunSummary(
        run_id=run.id,
        state=run.state,
        status=run.state.status,
        phase=run.state.value,
        title=accepted.alert.title,
        severity=counted.severity,
        workload=accepted.alert.workload,
        created_at=run.created_at,
        updated_at=run.updated_at,
        ended=finished.sentence if finished else "",
        occurrences=counted.occurrences,
        first_seen=counted.first_seen,
        last_seen=counted.last_seen,
        episodes=counted.episodes,
        firing=counted.firing,
        resolved=counted.resolved,
    )


def detail(
    run: Run,
    approval: Approval | None,
    tally: Tally | None = None,
    news: Sequence[RelatedAlert] = (),
) -> RunView | None:
    """Return everything that is known about a run; its alert as it was told last."""
    line, accepted = summary(run, tally), run.fact(AlertAccepted)
    if line is None or accepted is None:
        return None
    hypothesis, plan = run.fact(HypothesisFormed), run.fact(PlanDrafted)
    rejected, escalated = run.fact(HypothesisRejected), run.fact(RunEscalated)
    finished = run.fact(RunFinished)
    checked = plan.plan if plan else escalated or rejected
    return RunView(
        **line.model_dump(),
        alert=(tally and tally.alert) or accepted.alert,
        incident_parts=accepted.alert.incident.parts if accepted.alert.incident else {},
        members=tuple(MemberView(**asdict(one)) for one in tally.members) if tally else (),
        triage=triage(run, news),
        budget=budget(run),
        model_use=model_use(run),
        hypothesis=hypothesis.hypothesis if hypothesis else None,
        inconclusive=inconclusive(run),
        checks=checked.checks if checked else (),
        plan=plan.plan if plan else None,
        approval=approval_view(approval) if approval else None,
        pull_request=pulls.view(run),
        finished=FinishedView.model_validate(finished.model_dump()) if finished else None,
        timeline=timeline(run),
    )


def _told(run: Run, accepted: AlertAccepted) -> Tally:
    """Return the counts as the run's facts tell them, where the receiver keeps none any more."""
    repeated = run.fact(AlertRepeated)
    return Tally(
        first_seen=accepted.at,
        last_seen=repeated.at if repeated else accepted.at,
        occurrences=repeated.occurrences if repeated else 1,
        episodes=repeated.episodes if repeated else 1,
        firing=0 if run.state.terminal else 1,
        resolved=0,
        severity=accepted.alert.severity,
    )


def budget(run: Run) -> BudgetView | None:
    """Return how an investigation asked for a larger budget; None if it never did."""
    asked, told = run.fact(BudgetExhausted), run.fact(BudgetExtended)
    if asked is None:
        return None
    waits = run.state is RunState.INVESTIGATING and (told is None or told.answers != asked.id)
    return BudgetView(exhausted=asked.exhausted, so_far=asked.so_far, waits=waits)


def inconclusive(run: Run) -> InconclusiveView | None:
    """Return what the last attempt saw; None if it found a cause to act on."""
    formed, fact = run.fact(HypothesisFormed), run.fact(InvestigationInconclusive)
    if fact is None or (formed and formed.at > fact.at):
        return None
    return InconclusiveView(why=fact.why, candidates=fact.candidates, evidence=fact.evidence)


def model_use(run: Run) -> ModelUse | None:
    """Return what models used in all attempts, as the newest fact that knows of it says."""
    kinds = (HypothesisFormed, InvestigationInconclusive, BudgetExhausted)
    facts = [fact for fact in run.facts.values() if isinstance(fact, kinds)]
    for fact in sorted(facts, key=lambda fact: fact.at, reverse=True):
        used = [one for one in (fact.model_use_before, fact.model_use) if one]
        if used:
            return sum(used[1:], used[0])
    return None


def approval_view(approval: Approval) -> ApprovalView:
    """Return an approval without anything that could redeem it."""
    return ApprovalView(
        id=approval.id,
        plan_hash=approval.plan_hash,
        state=approval.state,
        expires_at=approval.expires_at,
        decided_by=approval.decided_by,
        decided_at=approval.decided_at,
        required=approval.required,
        decisions=approval.decisions,
    )


def timeline(run: Run) -> tuple[TimelineEntry, ...]:
    """Return the run's facts in the order they happened, a sentence each."""
    facts = sorted(run.facts.values(), key=lambda fact: fact.at)
    return tuple(
        TimelineEntry(at=fact.at, topic=fact.topic, producer=fact.producer, text=sentence(fact))
        for fact in facts
    )


def sentence(fact: Event) -> str:  # noqa: C901, PLR0911, PLR0912 - one flat line per event
    """Say a fact in a sentence."""
    match fact:
        case AlertAccepted():
            return f"Alert {fact.alert.title} opened the run."
        case AlertRepeated():
            news = f"Alert {fact.alert.title} {_NOVELTIES[fact.novelty]}"
            return f"{news}; {fact.occurrences} deliveries so far."
        case AlertResolved():
            return f"Alert {fact.alert.title} cleared; {fact.still_firing} still firing."
        case IncidentOpened():
            return "Triage let the investigation begin."
        case AlertSuppressed():
            return f"Suppressed: {fact.rule}."
        case RunSuperseded():
            return f"Run {fact.into} looks after it: {fact.why}."
        case StormStarted():
            return f"A storm: {fact.new_runs} new runs in {fact.window_seconds:g} s."
        case StormEnded():
            return f"The storm is over: it was {fact.new_runs} runs."
        case HypothesisFormed():
            return fact.hypothesis.finding.summary
        case InvestigationInconclusive():
            return f"No cause to act on: {fact.why}"
        case BudgetExhausted():
            return f"The investigation asks for a larger budget: {fact.exhausted}."
        case BudgetExtended():
            return f"{fact.by} {'extended' if fact.granted else 'did not extend'} the budget."
        case PlanDrafted():
            return f"Plan {fact.plan.short_hash} drafted: {fact.plan.title}"
        case HypothesisRejected():
            failed = [check.check for check in fact.checks if check.verdict != "pass"]
            return f"The hypothesis was rejected by: {', '.join(failed)}."
        case ApprovalRequested():
            return f"Plan {fact.plan.short_hash} waits for a decision."
        case ApprovalReminded():
            return "Half of the time is over, and nobody has decided."
        case ApprovalEscalated():
            return f"Nobody has decided, so {', '.join(fact.approvers)} may too."
        case ApprovalRecorded():
            return f"{fact.decision.by} said yes, {fact.given} of {fact.required}."
        case ApprovalGranted():
            return f"Approved by {fact.decision.by}."
        case ApprovalDenied():
            return f"Rejected by {fact.decision.by}: {fact.decision.reason or 'no reason given'}"
        case ApprovalExpired():
            return "Nobody decided in time."
        case PlanStale():
            return f"The plan is stale: {fact.why}"
        case RunCancelRequested():
            return f"{fact.by} asked to stop the run."
        case RunEscalated() | RunFinished():
            return fact.sentence
        case _:
            return pulls.sentence(fact) or fact.topic
