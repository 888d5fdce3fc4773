"""What stands in the thread below a message: each step once, in words."""

from dataclasses import dataclass

from tocsin_contracts import (
    AlertRepeated,
    ApprovalEscalated,
    ApprovalGranted,
    ApprovalRecorded,
    ApprovalReminded,
    ApprovalRequested,
    BudgetExhausted,
    CheckResult,
    CheckVerdict,
    Event,
    Evidence,
    EvidenceKind,
    IncidentOpened,
    Novelty,
    RunEscalated,
    RunFinished,
    StormEnded,
)
from tocsin_contracts.amending import AmendmentRefused
from tocsin_kit.untrusted import line
from tocsin_notifier.channels.slack.blocks import SECTION, Shown, section
from tocsin_notifier.channels.slack.text import escaped, size
from tocsin_notifier.ports import Message

LINE = 300
EVIDENCE = 12

LOUD = (
    AmendmentRefused,
    ApprovalEscalated,
    ApprovalRequested,
    ApprovalReminded,
    ApprovalRecorded,
    BudgetExhausted,
    RunEscalated,
    RunFinished,
    StormEnded,
)
"""Shown in the channel too: an edited message rings nobody, and these need or end a decision."""

_AGAIN = {
    Novelty.ALERT: "One more alert",
    Novelty.EPISODE: "Fires again",
    Novelty.SEVERITY: "More severe now",
}


@dataclass(frozen=True, slots=True)
class Note:
    """One reply in a thread; `loud` ones are shown in the channel too."""

    shown: Shown
    loud: bool = False


def of(message: Message, runs: int) -> Note | None:
    """Return the reply for what people are told; None where the message itself says it all."""
    event = message.event
    if isinstance(event, IncidentOpened):
        return _refired(runs) if runs > 1 else None
    if isinstance(event, ApprovalRequested):
        return _note("Approve? " + message.title.removeprefix("Approve? "), _why(event), event)
    if isinstance(event, RunEscalated):
        return _note(message.title, _known(event), event)
    return _note(message.title, message.text.splitlines(), event)


def repeated(event: AlertRepeated) -> Note | None:
    """Return the reply for an alert that came again; None where nothing about it is new."""
    words = _AGAIN.get(event.novelty)
    if words is None:
        return None
    counted = f"{event.occurrences} deliveries, {event.episodes} episodes so far."
    return _note(f"{words}: {line(event.alert.title, LINE)}", [counted], event)


def _refired(runs: int) -> Note:
    again = f"*Fires again: run {runs} about this. It is investigated anew.*"
    return Note(Shown(again, (section(again),)), loud=True)


def _why(asked: ApprovalRequested) -> list[str]:
    """What the question rests on; the change itself stands in the message above."""
    finding, evidence = asked.hypothesis.finding, asked.hypothesis.evidence
    cited = [one for one in evidence if one.id in finding.evidence][:EVIDENCE]
    others = len(evidence) - len(cited)
    return [
        finding.summary,
        *([finding.because] if finding.because else []),
        f"Decide in the message above, before {asked.expires_at:%Y-%m-%d %H:%M} UTC.",
        *map(_check, _open(asked.plan.checks)),
        *map(_seen, cited),
        *([f"… and {others} more that were looked at"] if others else []),
    ]


def _known(event: RunEscalated) -> list[str]:
    """Everything: whoever takes over starts here."""
    return [
        event.sentence,
        *map(_check, _open(event.checks)),
        *(f"• {line(one, LINE)}" for one in event.seen),
    ]


def _open(checks: tuple[CheckResult, ...]) -> list[CheckResult]:
    return [check for check in checks if check.verdict is not CheckVerdict.PASS]


def _check(check: CheckResult) -> str:
    told = f"Check {check.check}: {check.verdict.value}, {check.detail}"
    return f"{told.rstrip('.')}. To do: {check.action}" if check.action else told


def _seen(evidence: Evidence) -> str:
    """Say what was asked, and the answer unless it is an object, which no line can show."""
    asked = f"• {evidence.source}, {line(evidence.query, 120)}"
    if evidence.kind in (EvidenceKind.OBJECT, EvidenceKind.POD):
        return asked
    return f"{asked}: {line(evidence.excerpt, LINE)}"


def _note(title: str, lines: list[str], event: Event | None) -> Note:
    head = f"*{escaped(line(title, LINE), LINE)}*"
    told = [escaped(line(one, LINE * 4).replace("```", "'''"), LINE * 4) for one in lines]
    words = _fitting([head, *filter(None, told)])
    broken = isinstance(event, ApprovalGranted) and event.decision.break_glass
    return Note(Shown(words, (section(words),)), broken or isinstance(event, LOUD))


def _fitting(lines: list[str]) -> str:
    """Join the lines that fit into one message, and say how many do not."""
    room, kept = SECTION - len(f"\n… {len(lines)} more lines"), 0
    while kept < len(lines) and size("\n".join(lines[: kept + 1])) <= room:
        kept += 1
    left = len(lines) - kept
    return "\n".join([*lines[:kept], *([f"… {left} more lines"] if left else [])])
