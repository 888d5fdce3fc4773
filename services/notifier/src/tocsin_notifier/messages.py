"""Events as messages: pure text, with the exact change and what the reader can do."""

from tocsin_contracts import (
    ApprovalDenied,
    ApprovalGranted,
    ApprovalRequested,
    Decision,
    Event,
    IncidentOpened,
    PullRequestOpened,
    RunEscalated,
    RunFinished,
)
from tocsin_kit.untrusted import line
from tocsin_notifier.ports import Message

DIFF_LIMIT = 2400
"""Characters of a diff that a message shows; the API and the console show it whole."""


def render(event: Event) -> Message | None:
    """Return the message of an event, or None where people need not hear of it."""
    match event:
        case IncidentOpened():
            title, text = f"Investigating {line(event.alert.title)}", line(event.alert.summary, 500)
        case ApprovalRequested():
            title, text = f"Approve? {event.plan.title}", _question(event)
        case ApprovalGranted():
            title, text = f"Approved by {event.decision.by}", _decision(event.decision)
        case ApprovalDenied():
            title, text = f"Rejected by {event.decision.by}", _decision(event.decision)
        case PullRequestOpened():
            title, text = f"Pull request opened: {event.title}", event.url
        case RunEscalated():
            title, text = f"Needs a person: {line(event.alert.title)}", _known(event)
        case RunFinished():
            title, text = f"Run ended: {event.outcome.value}", event.sentence
        case _:
            return None
    return Message(id=event.id, run_id=event.run_id, title=title, text=text.strip())


def _question(event: ApprovalRequested) -> str:
    plan, finding = event.plan, event.hypothesis.finding
    passed = sum(check.verdict == "pass" for check in plan.checks)
    return "\n".join(
        [
            finding.summary,
            f"Confidence {finding.confidence:.0%}, {passed} of {len(plan.checks)} checks passed.",
            f"Repository {plan.target.repo}, file {plan.target.file}, risk {plan.risk.value}.",
            f"Plan {plan.short_hash}, decide before {event.expires_at:%Y-%m-%d %H:%M} UTC.",
            "```",
            _capped(plan.diff),
            "```",
            f"Decide: tocsin run approve {event.run_id}  or  tocsin run reject {event.run_id}",
        ]
    )


def _decision(decision: Decision) -> str:
    text = f"Plan {decision.plan_hash[:12]}, {decision.decided_at:%H:%M:%S} UTC."
    return f"{text} Reason: {line(decision.reason, 500)}" if decision.reason else text


def _known(event: RunEscalated) -> str:
    return "\n".join([event.sentence, *(f"- {line}" for line in event.seen)])


def _capped(diff: str) -> str:
    """Cut a long diff at a line, and keep its text from closing the box it is shown in."""
    if len(diff) > DIFF_LIMIT:
        kept = diff[:DIFF_LIMIT].rsplit("\n", 1)[0]
        more = len(diff.splitlines()) - len(kept.splitlines())
        diff = f"{kept}\n… {more} more lines"
    return diff.rstrip("\n").replace("```", "'''")
