"""The message about an incident: how it stands, what would change, and the buttons that decide."""

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_contracts import (
    Alert,
    ApprovalRequested,
    CheckVerdict,
    Edit,
    EditOp,
    Intent,
    Plan,
    RunFinished,
    RunState,
)
from tocsin_contracts.diagnosis import Hypothesis
from tocsin_contracts.views import ApprovalState
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import line
from tocsin_notifier.channels.slack import blocks, rating, text
from tocsin_notifier.channels.slack.blocks import Block, Confirm, Shown
from tocsin_notifier.channels.slack.text import escaped
from tocsin_notifier.channels.slack.view import View

DIFF, SENTENCE, WORD = 2400, 1200, 300
APPROVE, REJECT, REVIEW = "tocsin-approve", "tocsin-reject", "tocsin-review"

_STATES = {
    RunState.RECEIVED: "Investigating",
    RunState.INVESTIGATING: "Investigating",
    RunState.VALIDATING: "Cause found, a change is being checked",
    RunState.AWAITING_APPROVAL: "Waiting for a decision",
    RunState.APPLYING: "Approved, the pull request is being made",
    RunState.PR_OPEN: "The pull request waits for its merge",
    RunState.PR_MERGED: "Merged, the alerts are watched",
    RunState.RESOLVED: "Resolved",
    RunState.NO_CHANGE: "Ended without a change",
    RunState.SUPPRESSED: "Ended: a rule says that nobody is needed",
    RunState.SUPERSEDED: "Ended: another run looks after it",
    RunState.ESCALATED: "A person has to take over",
    RunState.REJECTED: "Rejected",
    RunState.EXPIRED: "Expired: nobody decided in time",
    RunState.CANCELLED: "Cancelled",
    RunState.PR_CLOSED: "The pull request was closed without a merge",
    RunState.FAILED: "Failed",
}
_DECIDED = {ApprovalState.GRANTED: "Approved", ApprovalState.DENIED: "Rejected"}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a message can point to: the console, if it has an address, and buttons of ours."""

    public_url: str = ""
    buttons: bool = True

    def page(self, run_id: str) -> str:
        """Return the address of a run's page; empty without a console."""
        return f"{self.public_url.rstrip('/')}/runs/{run_id}" if self.public_url else ""


def render(view: View, around: Surroundings, value: str = "") -> Shown:
    """Return the message; `value` is what its buttons tell us, and without one there are none."""
    state = status(view)
    return Shown(
        text=blocks_text(view, around),
        blocks=(
            blocks.header(title(view.alert)),
            blocks.section(f"*{escaped(state, WORD)}*{_ending(view)}"),
            *_cause(view.hypothesis, view.asked),
            *_change(view.asked),
            *_outcome(view),
            blocks.context(_footer(view)),
            *_command(view, around, value),
            *_buttons(view, around, value),
            *(rating.buttons(view) if around.buttons else ()),
        ),
    )


def status(view: View) -> str:
    """Return where the run is, in words."""
    decided = view.approval is not None and view.approval.state in _DECIDED
    if view.run.state is RunState.AWAITING_APPROVAL and not view.waits and not decided:
        return "Nobody can decide about this plan any more"
    if view.run.state is RunState.AWAITING_APPROVAL and decided and view.approval:
        return _DECIDED[view.approval.state]
    return _STATES[view.run.state]


def title(alert: Alert | None) -> str:
    """Return the headline: how bad, what, where."""
    if alert is None:
        return "An incident"
    work = alert.workload
    place = f" · {work.namespace}/{work.name}" if work else ""
    return line(f"[{alert.severity.value.upper()}] {alert.title}{place}", blocks.HEADER)


def blocks_text(view: View, around: Surroundings) -> str:
    """Return the message in plain words, for where blocks are not shown."""
    page = around.page(view.run.id)
    told = [title(view.alert), f"{status(view)}.", _sentence(view)]
    if view.waits:
        told.append(_decide(view))
    words = escaped(" ".join(filter(None, told)), blocks.TEXT - 500)
    return f"{words}\n{text.link(page, 'Open in the console')}" if page else words


def _ending(view: View) -> str:
    said = _sentence(view)
    return f"\n{escaped(line(said, SENTENCE), SENTENCE)}" if said else ""


def _sentence(view: View) -> str:
    """Return how the run ended, or what its alert says while it has not come to a cause."""
    ended = view.run.fact(RunFinished)
    if ended and view.run.state.terminal:
        return ended.sentence
    if view.hypothesis is None and view.alert:
        return view.alert.summary
    return ""


def _cause(hypothesis: Hypothesis | None, asked: ApprovalRequested | None) -> Iterator[Block]:
    if hypothesis is None:
        return
    finding = hypothesis.finding
    summary = escaped(line(f"Cause: {finding.summary}", SENTENCE), SENTENCE)
    told = f"{summary}\nConfidence {finding.confidence:.0%}"
    if asked:
        checks = asked.plan.checks
        passed = sum(check.verdict is CheckVerdict.PASS for check in checks)
        told += f", {passed} of {len(checks)} checks passed"
    yield blocks.section(f"{told}.")


def _change(asked: ApprovalRequested | None) -> Iterator[Block]:
    if asked is None:
        return
    plan = asked.plan
    named = (
        ("Repository", plan.target.repo),
        ("File", plan.target.file),
        ("Change", changes(plan)),
        ("Risk", "; ".join([plan.risk.value, *plan.risk_reasons])),
        ("What it affects", " ".join(plan.effects)),
        ("Needs a yes of", asked.needs),
        ("Owners", asked.owners),
        ("Decide before", f"{asked.expires_at:%Y-%m-%d %H:%M} UTC"),
        ("Changes have to wait", asked.freeze),
        ("Team", asked.team),
    )
    yield blocks.fields((name, escaped(line(value, WORD), WORD)) for name, value in named)
    yield blocks.section(text.fenced(_MASKING.text(plan.diff), DIFF))


_NAMED = "[name="
_MASKING = Redactor()
"""More people read a channel than may read the repository."""


def changes(plan: Plan) -> str:
    """Return what a plan changes on one line: the first edit, and how many follow."""
    first, *rest = (_MASKING.text(_edit(edit)) for edit in plan.edits)
    return f"{first} and {len(rest)} more" if rest else first


def _edit(edit: Edit) -> str:
    keys = [str(step) for step in edit.path if not str(step).startswith("[")]
    named = [str(step)[len(_NAMED) : -1] for step in edit.path if str(step).startswith(_NAMED)]
    where = ".".join(keys[-2:]) + "".join(f" of {name}" for name in named[-1:])
    if edit.op is EditOp.SET:
        return f"{where} {edit.before} → {edit.after}"
    return f"{edit.op.value} {where or edit.file}"


def _outcome(view: View) -> Iterator[Block]:
    approval = view.approval
    if view.asked and approval and approval.state in _DECIDED and approval.decided_at:
        what = (
            f"{_DECIDED[approval.state]} by {escaped(line(approval.decided_by), WORD)} "
            f"{approval.decided_at:%H:%M:%S} UTC · plan {approval.plan_hash[:12]}"
        )
        why = f"\n{escaped(line(approval.reason, SENTENCE), SENTENCE)}" if approval.reason else ""
        yield blocks.section(f"*{what}*{why}")
    if approval and approval.partial and view.waits:
        said = ", ".join(one.by for one in approval.decisions)
        count = f"{len(approval.decisions)} of {approval.required}"
        yield blocks.section(f"*{count} said yes: {escaped(line(said, WORD), WORD)}*")
    if pull := view.pull:
        words = escaped(line(pull.title), WORD)
        yield blocks.section(f"Pull request: {text.link(pull.url, words)}")


def _footer(view: View) -> str:
    told = [f"Run {view.run.id}"]
    if view.asked:
        told.append(f"plan {view.asked.plan.short_hash}")
    if tally := view.tally:
        told.append(f"{tally.firing} of {tally.firing + tally.resolved} alerts fire")
        told.append(f"{tally.occurrences} deliver{'y' if tally.occurrences == 1 else 'ies'}")
    if view.runs > 1:
        told.append(f"run {view.runs} about this")
    return escaped(" · ".join(told), WORD)


def _command(view: View, around: Surroundings, value: str) -> Iterator[Block]:
    """Name the command where neither a button here nor the console takes a yes."""
    clicks = around.buttons and value and not view.needs_console
    if view.waits and not clicks and not around.page(view.run.id):
        yield blocks.context(_decide(view))


def _decide(view: View) -> str:
    return f"Decide: tocsin run show {view.run.id}"


def _buttons(view: View, around: Surroundings, value: str) -> Iterator[Block]:
    page, found = around.page(view.run.id), []
    asked, decides = view.asked, view.waits and around.buttons and value
    if asked and decides and not view.needs_console:
        found.append(blocks.button(APPROVE, "Approve", value, "primary", _confirm(asked)))
    if page:
        words = "Review in console" if decides and view.needs_console else "Open in console"
        found.append(blocks.opens(REVIEW, words, page))
    if decides:
        found.append(blocks.button(REJECT, "Reject", value, "danger"))
    if found:
        yield blocks.actions(found)


def _confirm(asked: ApprovalRequested) -> Confirm:
    plan = asked.plan
    what = f"{line(changes(plan), 100)}\n{line(plan.target.repo, 60)} {line(plan.target.file, 100)}"
    adds = plan.intent is Intent.INCREMENT
    question = "Add a commit to the pull request?" if adds else "Open the pull request?"
    return Confirm(question, f"{what}\nPlan {plan.short_hash}", "Approve")
