"""What a message about an incident says in each state, within Slack's limits whatever it holds."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts import CheckVerdict, EditOp, EvidenceKind, Intent, Risk, RunState
from tocsin_contracts.views import ApprovalState
from tocsin_kit.quorum import Quorum
from tocsin_kit.tally import Tally
from tocsin_notifier import messages
from tocsin_notifier.channels.slack import blocks, card, notes
from tocsin_notifier.channels.slack.card import APPROVE, REJECT, REVIEW, Surroundings
from tocsin_notifier.channels.slack.view import View
from tocsin_notifier.ports import Message
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.slack import limits
from tocsin_testing.slack.clicking import buttons

CONSOLE = Surroundings("https://tocsin.example/")
VALUE = "v" * 200


def asked(**changes):
    return build.approval_requested(**changes)


def view(*facts, approval=None, **changes):
    run = build.run(build.alert_accepted(), *facts)
    return View(run=run, approval=approval or build.approval(), **changes)


def shown(of, around=CONSOLE, value=VALUE):
    message = card.render(of, around, value)
    assert limits.refusal({"text": message.text, "blocks": list(message.blocks)}) == ""
    assert list(limits.wrong(list(message.blocks))) == []
    return message


def words(message):
    return str(message.blocks)


def marked(message):
    """The texts in which Slack reads marks."""

    def texts(part):
        if isinstance(part, dict):
            mine = [part["text"]] if part.get("type") == "mrkdwn" else []
            return mine + [text for inner in part.values() for text in texts(inner)]
        return [text for inner in part for text in texts(inner)] if isinstance(part, list) else []

    return "\n".join([message.text, *texts(list(message.blocks))])


def found(message):
    return buttons({"blocks": message.blocks})


def test_a_question_shows_what_an_approver_needs_in_ten_seconds():
    plan = build.plan(
        checks=(build.check(), build.check(verdict=CheckVerdict.UNKNOWN)),
        risk_reasons=("prod",),
        effects=("3 pods restart",),
    )
    tally = Tally(
        first_seen=NOW,
        last_seen=NOW,
        occurrences=12,
        episodes=2,
        firing=3,
        resolved=1,
        severity=build.alert().severity,
    )
    message = shown(view(asked(plan=plan, team="payments"), tally=tally, runs=2))
    told = words(message)
    for part in (
        "[CRITICAL] KubeContainerOOMKilled · payments/payments-api",
        "Waiting for a decision",
        "Cause: Container api was killed at its memory limit of 128Mi.\\nConfidence 95%, "
        "1 of 2 checks passed.",
        "*Repository*\\nshop/platform-gitops",
        "*Change*\\nlimits.memory of api 128Mi → 256Mi",
        "*Risk*\\nlow; prod",
        "*What it affects*\\n3 pods restart",
        "*Decide before*\\n2026-03-02 14:00 UTC",
        "-              memory: 128Mi\\n+              memory: 256Mi",
        f"Run {RUN} · plan {plan.short_hash} · 3 of 4 alerts fire · 12 deliveries · "
        "run 2 about this",
    ):
        assert part in told
    assert len(message.blocks) <= 12
    assert list(found(message)) == [APPROVE, REVIEW, REJECT]


def test_a_yes_is_confirmed_with_what_it_does():
    plan = build.plan()
    confirm = found(shown(view(asked())))[APPROVE]["confirm"]["text"]["text"]
    for part in ("128Mi → 256Mi", plan.target.repo, plan.target.file, plan.short_hash):
        assert part in confirm


def test_one_more_commit_is_asked_for_as_such():
    plan = build.plan(intent=Intent.INCREMENT)
    confirm = found(shown(view(asked(plan=plan))))[APPROVE]["confirm"]
    assert confirm["title"]["text"] == "Add a commit to the pull request?"


def test_without_a_console_and_without_buttons_the_command_is_named():
    message = shown(view(asked()), Surroundings(buttons=False))
    assert not any(block["type"] == "actions" for block in message.blocks)
    assert f"tocsin run show {RUN}" in message.text
    assert f"Decide: tocsin run show {RUN}" in words(message)


@pytest.mark.parametrize("risk", [Risk.LOW, Risk.MEDIUM])
def test_up_to_medium_risk_is_a_click(risk):
    assert APPROVE in found(shown(view(asked(plan=build.plan(risk=risk)))))


def test_p3_high_risk_has_no_approve_button():
    needed = Quorum(people=2, refused=("slack",))
    plan = build.plan(risk=Risk.HIGH)
    message = shown(view(asked(plan=plan), approval=build.approval(quorum=needed)))
    assert list(found(message)) == [REVIEW, REJECT]
    assert found(message)[REVIEW]["text"]["text"] == "Review in console"


def test_a_yes_that_more_people_have_to_say_is_counted_and_asks_on():
    waits = build.approval(quorum=Quorum(people=2), decisions=(build.decision(by="ana"),))
    message = shown(view(asked(needs="2 people"), approval=waits))
    assert "1 of 2 said yes: ana" in words(message)
    assert "2 people" in words(message)
    assert APPROVE in found(message)


@pytest.mark.parametrize("state", [s for s in ApprovalState if s is not ApprovalState.PENDING])
def test_p7_who_can_no_longer_be_asked_is_not(state):
    by = {"decided_by": "ana", "decided_at": NOW} if state in ("granted", "denied") else {}
    message = shown(view(asked(), approval=build.approval(state=state, **by)))
    assert list(found(message)) == [REVIEW]
    decided = {"granted": "Approved by ana", "denied": "Rejected by ana"}.get(state)
    assert (decided or "Nobody can decide about this plan any more") in words(message)


def test_a_question_whose_record_is_lost_asks_nobody():
    of = view(asked())
    message = shown(View(run=of.run))
    assert list(found(message)) == [REVIEW]


@pytest.mark.parametrize("state", RunState)
def test_p4_every_state_is_said(state):
    ended = build.run_finished(outcome=state) if state.terminal else asked()
    of = view(asked(), ended)
    run = build.run(build.alert_accepted(), asked(), ended, state=state)
    message = shown(View(run=run, approval=of.approval))
    assert card.status(View(run=run, approval=of.approval)) in words(message)
    assert ("Nobody knows the cause." in words(message)) is state.terminal


@pytest.mark.parametrize(
    "pulled", [build.pull_request_opened, build.pull_request_updated, build.pull_request_found]
)
def test_the_pull_request_is_a_link(pulled):
    message = shown(view(asked(), pulled(url="https://git.example/7", title="A <b>")))
    assert "Pull request: <https://git.example/7|A &lt;b&gt;>" in words(message)


def test_of_several_changes_the_first_is_named_and_the_others_are_counted():
    edits = (build.edit(), build.edit(), build.edit(op=EditOp.CREATE, path=()))
    assert card.changes(build.plan(edits=edits)) == "limits.memory of api 128Mi → 256Mi and 2 more"
    assert card.changes(build.plan(edits=edits[2:])).startswith("create apps/payments-api")


D12 = "<&>" * 3000


def hostile(text):
    finding = build.finding(summary=text, because=text)
    hypothesis = build.hypothesis(
        finding=finding, evidence=(build.evidence(excerpt=text, query=text),) * 30
    )
    checks = (build.check(detail=text, action=text, verdict=CheckVerdict.FAIL),) * 30
    plan = build.plan(
        title=text,
        diff=text,
        target=build.target(file=text, repo=text),
        checks=checks,
        effects=(text,) * 5,
        risk_reasons=(text,) * 5,
        edits=(build.edit(old=text, new=text),),
    )
    alert = build.alert(title=text, summary=text, workload=build.workload(name=text))
    return alert, plan, hypothesis, checks


def test_d12_9000_characters_of_markup_are_delivered_cut_and_within_all_limits():
    alert, plan, hypothesis, _ = hostile(D12)
    run = build.run(
        build.alert_accepted(alert=alert),
        asked(plan=plan, hypothesis=hypothesis, team=D12, freeze=D12),
    )
    message = shown(View(run=run, approval=build.approval(approvers=("ana",))))
    assert "<&" not in marked(message)
    assert marked(message).count("&lt;&amp;&gt;") > 300
    assert "…" in marked(message)
    assert "https://tocsin.example/runs/r1" in message.text
    assert set(found(message)) == {APPROVE, REVIEW, REJECT}


HARD = st.text(alphabet="<&>@a*`\N{PILE OF POO}\u202e\n\0|", max_size=100).map(lambda s: s * 50)


@settings(max_examples=8, deadline=None)
@given(HARD)
def test_whatever_others_wrote_slack_takes_the_message(text):
    alert, plan, hypothesis, checks = hostile(text)
    granted = build.approval(
        state=ApprovalState.DENIED, decided_by=text, decided_at=NOW, reason=text
    )
    ended = build.run_finished(sentence=text)
    facts = [asked(plan=plan, hypothesis=hypothesis), build.pull_request_opened(title=text)]
    for run in (
        build.run(build.alert_accepted(alert=alert), *facts, *more) for more in ([], [ended])
    ):
        message = shown(View(run=run, approval=granted))
        assert marked(message).count("<") == marked(message).count("<https://")
    for event in (
        facts[0],
        build.run_escalated(alert=alert, sentence=text, seen=(text,) * 50, checks=checks),
        ended,
    ):
        told = noted(event).shown
        assert limits.refusal({"text": told.text, "blocks": list(told.blocks)}) == ""
        assert "<" not in told.text


def noted(event, runs=1):
    message = messages.render(event)
    return notes.of(Message(message.id, message.run_id, message.title, message.text, event), runs)


def test_the_thread_says_what_a_question_rests_on():
    checks = (build.check(verdict=CheckVerdict.UNKNOWN, detail="No quota was seen."),)
    text = noted(asked(plan=build.plan(checks=checks))).shown.text
    for part in (
        "*Approve? Raise the memory limit of payments-api to 256Mi*",
        "The limit was 256Mi until it was lowered.",
        "• snapshot, Pod payments/payments-api-7d9c8f6b5-x2x4z",
        "Check symptom-present: unknown, No quota was seen.",
        "before 2026-03-02 14:00 UTC.",
    ):
        assert part in text
    assert "memory: 256Mi" not in text


def test_what_a_question_does_not_rest_on_is_only_counted():
    known = build.approval_requested().hypothesis
    (pod,) = known.evidence
    commit = {
        "kind": EvidenceKind.COMMIT,
        "source": "git",
        "query": "log",
        "excerpt": "36f96a5 trim",
    }
    seen = (pod.model_copy(update=commit), pod.model_copy(update={"id": "e2", "query": "other"}))
    text = noted(asked(hypothesis=known.model_copy(update={"evidence": seen}))).shown.text
    assert "• git, log: 36f96a5 trim\n… and 1 more that were looked at" in text
    assert "other: " not in text


def test_an_escalation_tells_everything_that_is_known():
    seen = tuple(f"line {number}" for number in range(60))
    checks = (build.check(), build.check(verdict=CheckVerdict.FAIL, detail="Not allowed."))
    text = noted(build.run_escalated(seen=seen, checks=checks)).shown.text
    assert [line for line in seen if f"• {line}" not in text] == []
    assert "Check symptom-present: fail, Not allowed." in text
    assert "The container still restarts." not in text
    assert noted(build.run_escalated()).loud


def test_what_does_not_fit_into_a_reply_is_counted():
    seen = tuple(f"line {number} {'x' * 100}" for number in range(60))
    text = noted(build.run_escalated(seen=seen)).shown.text
    kept = text.count("• ")
    assert text.endswith(f"… {60 - kept} more lines")
    assert len(text) <= blocks.SECTION


def test_only_what_needs_people_or_ends_rings_in_the_channel():
    loud = {
        event.topic
        for event in (
            build.approval_requested(),
            build.approval_granted(),
            build.pull_request_opened(),
            build.pull_request_merged(),
            build.budget_exhausted(),
            build.fix_ineffective(),
            build.run_escalated(),
            build.run_finished(),
        )
        if noted(event).loud
    }
    assert loud == {
        "approval.requested.v1",
        "rca.budget-exhausted.v1",
        "validation.escalated.v1",
        "run.finished.v1",
    }


def test_the_first_message_needs_no_reply_and_a_later_one_says_which_it_is():
    assert noted(build.incident_opened()) is None
    again = noted(build.incident_opened(), runs=3)
    assert "run 3 about this" in again.shown.text
    assert again.loud


def test_the_newest_pull_request_is_shown():
    older = build.pull_request_opened(url="https://git.example/1")
    newer = build.pull_request_updated(url="https://git.example/2", at=NOW + timedelta(hours=1))
    assert view(newer, older).pull == newer
