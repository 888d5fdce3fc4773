"""Runs as people look at them: records in, views out."""

from collections.abc import Sequence
from dataclasses import asdict

from tocsin_contracts import (
    AlertAccepted,
    AlertRepeated,
    BudgetExhausted,
    BudgetExtended,
    HypothesisFormed,
    HypothesisRejected,
    InvestigationInconclusive,
    ModelUse,
    PlanDrafted,
    RelatedAlert,
    RunEscalated,
    RunFinished,
    RunState,
)
from tocsin_contracts.views import (
    ApprovalView,
    BudgetView,
    FinishedView,
    InconclusiveView,
    MemberView,
    RunSummary,
    RunView,
)
from tocsin_gateway import pulls, telling
from tocsin_gateway.triage import triage
from tocsin_kit.approvals import Approval
from tocsin_kit.run_view import Run
from tocsin_kit.tally import Tally


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
        members=_members(run, tally),
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
        timeline=telling.timeline(run),
        untold=run.forgotten,
    )


def _members(run: Run, tally: Tally | None) -> tuple[MemberView, ...]:
    """Return the alerts of a run, each with what tells it from the others."""
    differs = telling.differences(run)
    return tuple(
        MemberView(**asdict(one), differs=differs.get(one.fingerprint, ""))
        for one in (tally.members if tally else ())
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
