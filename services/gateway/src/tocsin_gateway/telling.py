"""What happened in a run, told to people: a sentence for each fact, and nothing said twice."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tocsin_contracts import (
    Alert,
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
    ForgeEventReceived,
    HypothesisFormed,
    HypothesisRejected,
    IncidentOpened,
    InvestigationInconclusive,
    Novelty,
    PlanDrafted,
    PlanStale,
    PullRequestClosed,
    PullRequestMerged,
    RunCancelRequested,
    RunEscalated,
    RunFinished,
    RunSuperseded,
    StormEnded,
    StormStarted,
)
from tocsin_contracts.amending import AmendmentRefused, AmendmentRequested
from tocsin_contracts.chat import ChatAnswered, ChatAsked
from tocsin_contracts.configuring import ConfigChanged
from tocsin_contracts.operations import (
    DeadLetterDiscarded,
    DeadLetterReplayed,
    RunEscalationRequested,
    RunRerun,
)
from tocsin_contracts.outcomes import Rated
from tocsin_contracts.views import TimelineEntry
from tocsin_gateway import pulls
from tocsin_kit.run_view import Run

SHOWN_LABELS = ("pod", "container", "instance", "node", "namespace", "cluster")
"""What people know an alert by, the most telling first; other labels follow by name."""

MOST_LABELS = 2

AlertTold = AlertAccepted | AlertRepeated | AlertResolved
PullEnded = PullRequestMerged | PullRequestClosed


def timeline(run: Run) -> tuple[TimelineEntry, ...]:
    """Return what happened, first one first; an end on a forge is told once, with who did it."""
    facts = run.told
    names, differs = _names(facts), _differences(facts)
    ended = {fact.url for fact in facts if isinstance(fact, PullEnded)}
    last_words = {fact.sentence for fact in facts if isinstance(fact, RunFinished)}
    return tuple(
        TimelineEntry(
            at=fact.at,
            topic=fact.topic,
            producer=fact.producer,
            text=sentence(_named(fact, names), _difference(fact, differs)),
        )
        for fact in facts
        if not (isinstance(fact, ForgeEventReceived) and fact.url in ended and _ends(fact))
        if not (isinstance(fact, RunEscalated) and fact.sentence in last_words)
    )


def differences(run: Run) -> Mapping[str, str]:
    """Return what tells each alert of a run from the others, by its fingerprint."""
    return _differences(run.told)


def _differences(facts: Iterable[Event]) -> Mapping[str, str]:
    alerts = {fact.alert.fingerprint: fact.alert for fact in facts if isinstance(fact, AlertTold)}
    return {key: _labels(alert, alerts.values()) for key, alert in alerts.items()}


def sentence(fact: Event, differs: str = "") -> str:
    """Say a fact in a sentence; `differs` is what tells its alert from others of the run."""
    if isinstance(fact, AlertTold):
        return _about_alert(
            fact, f"Alert {fact.alert.title}" + (f" ({differs})" if differs else "")
        )
    say = _SENTENCES.get(type(fact))
    return say(fact) if say else pulls.sentence(fact) or fact.topic


def _about_alert(fact: AlertTold, alert: str) -> str:
    match fact:
        case AlertAccepted():
            return f"{alert} opened the run."
        case AlertRepeated():
            return f"{alert} {_NOVELTIES[fact.novelty]}; {fact.occurrences} deliveries so far."
        case AlertResolved():
            return f"{alert} cleared; {fact.still_firing} still firing."


def _labels(alert: Alert, every: Iterable[Alert]) -> str:
    others = [one for one in every if one.title == alert.title]
    names = [
        name
        for name in alert.labels
        if any(other.labels.get(name) != alert.labels[name] for other in others)
    ]
    names.sort(key=lambda name: (name not in SHOWN_LABELS, _place(name), name))
    return ", ".join(f"{name} {alert.labels[name]}" for name in names[:MOST_LABELS])


def _place(name: str) -> int:
    return SHOWN_LABELS.index(name) if name in SHOWN_LABELS else len(SHOWN_LABELS)


def _difference(fact: Event, differs: Mapping[str, str]) -> str:
    return differs.get(fact.alert.fingerprint, "") if isinstance(fact, AlertTold) else ""


def _ends(fact: ForgeEventReceived) -> bool:
    return fact.kind.value in ("merged", "closed")


def _names(facts: Iterable[Event]) -> Mapping[str, str]:
    """Return the logins of people by the ids that forges name them by."""
    authors = [
        (fact.forge.value, fact.author) for fact in facts if isinstance(fact, ForgeEventReceived)
    ]
    known = [(forge, author) for forge, author in authors if author.login]
    plain = {author.id: author.login for _, author in known}
    return plain | {f"{forge}:{author.id}": author.login for forge, author in known}


def _named(fact: Event, names: Mapping[str, str]) -> Event:
    if isinstance(fact, PullEnded):
        return fact.model_copy(update={"by": names.get(fact.by, fact.by)})
    return fact


def _why(reason: str) -> str:
    return f": {reason.rstrip('.')}." if reason else "."


def _replayed(fact: DeadLetterReplayed) -> str:
    goes_on = f" The run goes on as {fact.reopens.value}." if fact.reopens else ""
    return (
        f"{fact.by} had dead letter {fact.number} of {fact.service} given again"
        f"{_why(fact.reason)}{goes_on}"
    )


_NOVELTIES = {
    Novelty.NOTHING: "still fires",
    Novelty.ALERT: "fires too",
    Novelty.EPISODE: "fires again",
    Novelty.SEVERITY: "became more severe",
    Novelty.TEXT: "says something else",
}

_SENTENCES: Mapping[type[Event], Callable[[Any], str]] = {
    IncidentOpened: lambda fact: "Triage let the investigation begin.",
    AlertSuppressed: lambda fact: f"Suppressed: {fact.rule}.",
    RunSuperseded: lambda fact: f"Run {fact.into} looks after it: {fact.why}.",
    StormStarted: lambda fact: f"A storm: {fact.new_runs} new runs in {fact.window_seconds:g} s.",
    StormEnded: lambda fact: f"The storm is over: it was {fact.new_runs} runs.",
    HypothesisFormed: lambda fact: fact.hypothesis.finding.summary,
    InvestigationInconclusive: lambda fact: f"No cause to act on: {fact.why}",
    BudgetExhausted: lambda fact: f"The investigation asks for a larger budget: {fact.exhausted}.",
    BudgetExtended: lambda fact: (
        f"{fact.by} {'extended' if fact.granted else 'did not extend'} the budget."
    ),
    PlanDrafted: lambda fact: f"Plan {fact.plan.short_hash} drafted: {fact.plan.title}",
    HypothesisRejected: lambda fact: (
        "The hypothesis was rejected by: "
        + ", ".join(one.check for one in fact.checks if one.verdict != "pass")
        + "."
    ),
    ApprovalRequested: lambda fact: f"Plan {fact.plan.short_hash} waits for a decision.",
    ApprovalReminded: lambda fact: "Half of the time is over, and nobody has decided.",
    ApprovalEscalated: lambda fact: f"Nobody has decided, so {', '.join(fact.approvers)} may too.",
    ApprovalRecorded: lambda fact: f"{fact.decision.by} said yes, {fact.given} of {fact.required}.",
    ApprovalGranted: lambda fact: (
        f"BREAK-GLASS: {fact.decision.by} approved alone: {fact.decision.reason}"
        if fact.decision.break_glass
        else f"Approved by {fact.decision.by}."
    ),
    ApprovalDenied: lambda fact: (
        f"Rejected by {fact.decision.by}: {fact.decision.reason or 'no reason given'}"
    ),
    ApprovalExpired: lambda fact: "Nobody decided in time.",
    AmendmentRequested: lambda fact: (
        f"{fact.by} wants other values than plan {fact.plan_hash[:12]} has{_why(fact.reason)}"
    ),
    AmendmentRefused: lambda fact: f"No plan comes of the other values: {fact.why}",
    ChatAsked: lambda fact: f"{fact.by} asked a question.",
    ChatAnswered: lambda fact: f"The question of {fact.by} ended: {fact.ending.value}.",
    Rated: lambda fact: (
        f"{fact.by} calls the {fact.about.value} {'useful' if fact.useful else 'wrong'}"
        f"{_why(fact.text)}"
    ),
    ConfigChanged: lambda fact: f"{fact.by} set {fact.key} to {fact.after}.",
    PlanStale: lambda fact: f"The plan is stale: {fact.why}",
    RunCancelRequested: lambda fact: f"{fact.by} asked to stop the run.",
    RunEscalationRequested: lambda fact: f"{fact.by} takes the run over{_why(fact.reason)}",
    RunRerun: lambda fact: (
        f"{fact.by} had the alerts of run {fact.of} looked at again, by run {fact.run_id}"
        f"{_why(fact.reason)}"
    ),
    DeadLetterReplayed: _replayed,
    DeadLetterDiscarded: lambda fact: (
        f"{fact.by} threw dead letter {fact.number} of {fact.service} away{_why(fact.reason)}"
    ),
    RunEscalated: lambda fact: fact.sentence,
    RunFinished: lambda fact: fact.sentence,
}
