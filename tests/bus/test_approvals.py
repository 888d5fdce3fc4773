"""Approvals on a real store: of many decisions one is taken, and only about the plan shown."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from tocsin_contracts import ApprovalDenied, ApprovalGranted, ApprovalRecorded, RunState
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_kit import approvals as kit
from tocsin_kit import keys, store
from tocsin_kit.approvals import Approvals, Refusal, approval_id
from tocsin_kit.moves import move
from tocsin_kit.outbox import Outbox
from tocsin_kit.quorum import LOGIN, ONE, Quorum
from tocsin_kit.runs import RunStore
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import FakeClock, FakePublisher, outage
from tocsin_testing.gate import FakeApprovals

pytestmark = pytest.mark.servers

PLAN = build.plan().plan_hash
DUE = NOW + timedelta(hours=4)


class Desk:
    """Approvals with a bus that keeps what was published, and a run that waits for a decision."""

    def __init__(self, client, clock):
        self.redis = client
        self.clock = clock
        self.bus = FakePublisher()
        self.outbox = Outbox(client, kit.OWNER, kit.read, self.bus.publish, clock)
        self.approvals = Approvals(client, self.outbox, clock)

    async def ask(self, approvers=("ana", "bo"), run_id=RUN, quorum=ONE, askers=(), **terms):
        runs, event = RunStore(self.redis, clock=self.clock), build.plan_drafted(run_id=run_id)
        begin = await runs.begin(event, "action", move(RunState.RECEIVED))
        asked = build.approval_requested(run_id=run_id)
        await runs.commit(begin.lease, move(RunState.RECEIVED), event, [asked])
        return await self.approvals.open(
            run_id, PLAN, approvers, DUE, quorum, askers=askers, **terms
        )

    async def redeem(self, nonce, **changes):
        said = {
            "run_id": RUN,
            "plan_hash": PLAN,
            "surface": "slack",
            "nonce": nonce,
            "answer": DecisionKind.GRANTED,
            "by": "ana",
            "reason": "",
        }
        return await self.approvals.redeem(**(said | changes))

    async def mint(self, surface="slack"):
        return await self.approvals.mint(RUN, PLAN, surface)

    @property
    def told(self):
        return [type(event) for event in self.bus.published]


@pytest.fixture
async def redis(redis_url):
    client = store.connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
async def desk(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask()
    return desk


async def test_a_decision_is_taken_and_told(desk):
    redeemed = await desk.redeem(await desk.mint(), reason="looks right")
    assert redeemed == kit.Redeemed(None, ApprovalState.GRANTED, "ana", NOW)
    (granted,) = desk.bus.published
    assert isinstance(granted, ApprovalGranted)
    assert granted.decision == build.decision(
        approval_id=approval_id(RUN, PLAN), surface="slack", reason="looks right"
    )
    approval = await desk.approvals.get(RUN, PLAN)
    assert (approval.state, approval.decided_by) == (ApprovalState.GRANTED, "ana")
    assert (approval.decided_at, approval.reason) == (NOW, "looks right")


async def test_a_no_is_told_as_one(desk):
    await desk.redeem(await desk.mint(), answer=DecisionKind.DENIED)
    assert desk.told == [ApprovalDenied]
    assert (await desk.approvals.get(RUN, PLAN)).state is ApprovalState.DENIED


async def test_p2_p5_of_400_decisions_at_once_exactly_one_is_taken(desk):
    answers = [DecisionKind.GRANTED, DecisionKind.DENIED]
    taken = await asyncio.gather(
        *(
            desk.approvals.decide(
                run_id=RUN,
                plan_hash=PLAN,
                surface="gateway",
                answer=answers[number % 2],
                by=("ana", "bo")[number // 2 % 2],
                reason="",
            )
            for number in range(400)
        )
    )
    assert Counter(one.refusal for one in taken) == {None: 1, Refusal.ALREADY: 399}
    assert len(desk.bus.published) == 1
    assert len({(one.state, one.decided_by) for one in taken}) == 1


TWO = Quorum(people=2)
HIGH = Quorum(people=2, alone=LOGIN, refused=("slack",))
PEOPLE = ("ana", "bo", "cy")


async def decide(desk, by, surface="slack", answer=DecisionKind.GRANTED, **changes):
    said = {"run_id": RUN, "plan_hash": PLAN, "reason": ""} | changes
    return await desk.approvals.decide(surface=surface, answer=answer, by=by, **said)


@pytest.fixture
async def two(redis):
    """A desk at which two people have to say yes."""
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, quorum=TWO)
    return desk


async def test_a_yes_that_more_people_have_to_say_is_told_and_leaves_the_plan_undecided(two):
    taken = await decide(two, "ana")
    assert taken == kit.Redeemed(None, ApprovalState.PENDING, "ana", NOW, given=1, required=2)
    (recorded,) = two.bus.published
    assert isinstance(recorded, ApprovalRecorded)
    assert (recorded.given, recorded.required, recorded.decision.by) == (1, 2, "ana")
    approval = await two.approvals.get(RUN, PLAN)
    assert (approval.state, approval.partial, approval.undecided) == (
        ApprovalState.PENDING,
        True,
        ("bo", "cy"),
    )
    assert approval.decisions == (recorded.decision,)


async def test_p3_of_two_people_the_second_decides_and_both_are_kept(two):
    await decide(two, "ana")
    taken = await decide(two, "bo")
    assert (taken.state, taken.given, taken.required) == (ApprovalState.GRANTED, 2, 2)
    assert two.told == [ApprovalRecorded, ApprovalGranted]
    approval = await two.approvals.get(RUN, PLAN)
    assert [one.by for one in approval.decisions] == ["ana", "bo"]


async def test_p3_one_person_is_never_two(two):
    await decide(two, "ana")
    again = await decide(two, "ana", surface="gateway")
    assert (again.refusal, again.given, again.required) == (Refusal.SAID_ALREADY, 1, 2)
    assert two.told == [ApprovalRecorded]


async def test_p3_one_no_is_enough_after_a_yes(two):
    await decide(two, "ana")
    taken = await decide(two, "bo", answer=DecisionKind.DENIED)
    assert taken.state is ApprovalState.DENIED
    assert (await decide(two, "cy")).refusal is Refusal.ALREADY
    assert two.told == [ApprovalRecorded, ApprovalDenied]


async def test_p3_a_yes_does_not_outlast_the_time_or_the_plan(two):
    await decide(two, "ana")
    two.clock.advance(4 * 3600)
    assert (await decide(two, "bo")).refusal is Refusal.EXPIRED
    assert await two.approvals.expire(RUN, PLAN) is ApprovalState.EXPIRED
    assert two.told == [ApprovalRecorded]


async def test_p5_two_yeses_that_nobody_heard_of_are_both_told_by_the_next_redeemer(two, redis):
    three = Desk(redis, two.clock)
    await redis.hset(keys.approval(RUN, PLAN), "people", "3")
    three.bus.down = outage("the bus did not store it")
    for by in ("ana", "bo"):
        assert (await decide(three, by)).refusal is None
    healer = Desk(redis, two.clock)
    await healer.outbox.flush()
    told = sorted((one.decision.by, one.given, one.required) for one in healer.bus.published)
    assert told == [("ana", 1, 3), ("bo", 2, 3)]
    assert len({one.id for one in healer.bus.published}) == 2


async def test_a_reason_cannot_forge_the_count_of_an_event(two):
    nonce = await two.mint()
    await two.redeem(nonce, reason='"given":0,"required":0')
    (recorded,) = two.bus.published
    stored = (recorded.given, recorded.required, recorded.decision.reason)
    assert stored == (1, 2, '"given":0,"required":0')


@pytest.mark.parametrize(
    ("surface", "answer", "refusal", "state"),
    [
        ("slack", DecisionKind.GRANTED, Refusal.WRONG_SURFACE, ApprovalState.PENDING),
        ("slack", DecisionKind.DENIED, None, ApprovalState.DENIED),
        ("forge", DecisionKind.GRANTED, None, ApprovalState.PENDING),
        ("gateway", DecisionKind.GRANTED, None, ApprovalState.GRANTED),
        ("console", DecisionKind.GRANTED, None, ApprovalState.GRANTED),
    ],
)
async def test_p3_where_a_yes_comes_from_decides_what_it_is_worth(
    redis, surface, answer, refusal, state
):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, quorum=HIGH)
    taken = await decide(desk, "ana", surface, answer)
    assert (taken.refusal, taken.state) == (refusal, state)


async def test_who_said_yes_in_a_chat_may_make_it_whole_where_they_log_in(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, quorum=Quorum(people=2, alone=LOGIN))
    await decide(desk, "ana", "slack")
    taken = await decide(desk, "ana", "console")
    assert (taken.state, taken.given) == (ApprovalState.GRANTED, 1)


@pytest.mark.parametrize("quorum", [ONE, TWO, Quorum(people=2, alone=LOGIN)])
async def test_p3_who_asked_for_a_change_is_never_the_only_one_who_approves_it(redis, quorum):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, quorum=quorum, askers=["ana"])
    first = await decide(desk, "ana", "gateway")
    assert (first.state, first.given, first.required) == (ApprovalState.PENDING, 1, 2)
    assert (await desk.approvals.get(RUN, PLAN)).required == 2
    again = await decide(desk, "ana", "console")
    assert (again.refusal, again.given, again.required) == (Refusal.SAID_ALREADY, 1, 2)
    assert (await decide(desk, "bo", "slack")).state is ApprovalState.GRANTED


async def test_who_did_not_ask_for_a_change_approves_it_without_who_did(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, askers=["ana"])
    assert (await decide(desk, "bo")).state is ApprovalState.GRANTED


async def test_two_who_asked_for_a_change_need_a_third(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, askers=["ana", "bo"])
    assert (await decide(desk, "ana")).required == 2
    second = await decide(desk, "bo")
    assert (second.state, second.given, second.required) == (ApprovalState.PENDING, 2, 3)
    assert (await decide(desk, "cy")).state is ApprovalState.GRANTED


async def test_a_no_of_who_asked_for_a_change_is_a_no(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, askers=["ana"])
    taken = await decide(desk, "ana", answer=DecisionKind.DENIED)
    assert taken.state is ApprovalState.DENIED


async def test_more_people_may_decide_what_waits_and_nothing_else_changes(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(["ana"])
    assert (await decide(desk, "bo")).refusal is Refusal.NOT_ALLOWED
    for _ in range(2):
        assert await desk.approvals.widen(RUN, PLAN, ["ana", "bo"]) is ApprovalState.PENDING
    assert (await desk.approvals.get(RUN, PLAN)).approvers == ("ana", "bo")
    assert (await decide(desk, "bo")).state is ApprovalState.GRANTED
    assert await desk.approvals.widen(RUN, PLAN, ["cy"]) is ApprovalState.GRANTED
    assert (await desk.approvals.get(RUN, PLAN)).approvers == ("ana", "bo")
    assert await desk.approvals.widen(RUN, "f" * 64, ["cy"]) is None


async def test_where_nobody_could_decide_those_who_join_can(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask([])
    await desk.approvals.widen(RUN, PLAN, ["cy"])
    assert (await decide(desk, "cy")).state is ApprovalState.GRANTED


async def test_a_rule_decides_where_the_record_names_it_and_is_told_like_any_decision(desk):
    taken = await desk.approvals.decide_by_rule(RUN, PLAN, "memory-up")
    assert (taken.refusal, taken.state) == (None, ApprovalState.GRANTED)
    (granted,) = desk.bus.published
    assert (granted.decision.by, granted.decision.surface) == ("rule:memory-up", "rule")
    assert granted.decision.reason == "the rule memory-up of gitops.yaml"
    again = await desk.approvals.decide_by_rule(RUN, PLAN, "memory-up")
    assert again.refusal is Refusal.ALREADY


async def test_p3_no_rule_stands_for_one_of_two_people(two):
    taken = await two.approvals.decide_by_rule(RUN, PLAN, "memory-up")
    assert taken.refusal is Refusal.NOT_ALLOWED
    assert two.bus.published == []


@pytest.mark.parametrize(
    ("by", "surface", "answer"),
    [
        ("rule:memory-up", "gateway", DecisionKind.GRANTED),
        ("rule:other", "rule", DecisionKind.GRANTED),
        ("rule:memory-up", "rule", DecisionKind.DENIED),
        ("ana", "rule", DecisionKind.GRANTED),
    ],
)
async def test_p3_nobody_passes_for_a_rule_and_a_rule_says_no_other_thing(
    desk, redis, by, surface, answer
):
    await redis.hset(keys.approval(RUN, PLAN), "rule", "rule:memory-up")
    assert (await decide(desk, by, surface, answer)).refusal is Refusal.NOT_ALLOWED
    assert desk.bus.published == []


async def test_a_rule_opens_no_approval_that_was_not_asked_for(desk, redis):
    taken = await desk.approvals.decide_by_rule(RUN, "f" * 64, "memory-up")
    assert taken.refusal is Refusal.UNKNOWN
    assert not await redis.exists(keys.approval(RUN, "f" * 64))


GLASS = {"break_glass": True, "reason": "the shop is down"}
OWNED = {"apps/a.yaml": ("bo",), "apps/b.yaml": ("bo", "cy")}


async def test_who_may_break_the_glass_says_yes_alone_past_people_owners_and_who_asked(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(
        ("bo", "cy"), quorum=Quorum(people=2), askers=["ana"], owned=OWNED, breakers=["ana"]
    )
    taken = await decide(desk, "ana", "gateway", **GLASS)
    assert (taken.refusal, taken.state) == (None, ApprovalState.GRANTED)
    (granted,) = desk.bus.published
    assert isinstance(granted, ApprovalGranted)
    decision = granted.decision
    assert (decision.break_glass, decision.by, decision.reason) == (True, "ana", "the shop is down")


@pytest.mark.parametrize(
    ("by", "surface", "changes", "refusal"),
    [
        ("bo", "gateway", {}, Refusal.NOT_GLASS),
        ("ana", "slack", {}, Refusal.NOT_GLASS),
        ("ana", "rule", {}, Refusal.NOT_GLASS),
        ("ana", "gateway", {"answer": DecisionKind.DENIED}, Refusal.NOT_GLASS),
        ("ana", "gateway", {"reason": " too few "}, Refusal.NO_REASON),
        ("ana", "gateway", {"plan_hash": PLAN[:12] + "0" * 52}, Refusal.PLAN_CHANGED),
    ],
)
async def test_p3_nothing_else_breaks_the_glass(redis, by, surface, changes, refusal):
    desk = Desk(redis, FakeClock())
    await desk.ask(("ana", "bo"), quorum=TWO, breakers=["ana"])
    said = {"answer": DecisionKind.GRANTED} | GLASS | changes
    assert (await decide(desk, by, surface, **said)).refusal is refusal
    assert desk.bus.published == []


async def test_p3_the_glass_does_not_outlast_the_time_nor_a_decision(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(("ana", "bo"), breakers=["ana"])
    desk.clock.advance(4 * 3600)
    assert (await decide(desk, "ana", "gateway", **GLASS)).refusal is Refusal.EXPIRED
    await desk.approvals.expire(RUN, PLAN)
    assert (await decide(desk, "ana", "gateway", **GLASS)).refusal is Refusal.ALREADY


async def test_p3_nobody_breaks_a_glass_that_no_setting_names(desk):
    assert (await decide(desk, "ana", "gateway", **GLASS)).refusal is Refusal.NOT_GLASS


async def test_an_owner_of_every_file_has_to_say_yes(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, owned=OWNED)
    first = await decide(desk, "ana")
    assert (first.state, first.given, first.required) == (ApprovalState.PENDING, 1, 2)
    second = await decide(desk, "cy")
    assert (second.state, second.given, second.required) == (ApprovalState.PENDING, 2, 3)
    assert (await desk.approvals.get(RUN, PLAN)).required == 3
    assert (await decide(desk, "bo")).state is ApprovalState.GRANTED


async def test_the_yes_of_one_who_owns_every_file_is_enough(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, owned=OWNED)
    assert (await decide(desk, "bo")).state is ApprovalState.GRANTED


async def test_p3_a_file_whose_owners_nobody_knows_is_approved_by_nobody(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, owned={"apps/a.yaml": ()})
    for who in PEOPLE:
        assert (await decide(desk, who, "gateway")).state is ApprovalState.PENDING
    assert "nobody who can be reached as owner of apps/a.yaml" in (
        (await desk.approvals.get(RUN, PLAN)).needs
    )


async def test_p3_no_rule_stands_for_an_owner(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, owned=OWNED)
    taken = await desk.approvals.decide_by_rule(RUN, PLAN, "memory-up")
    assert taken.refusal is Refusal.NOT_ALLOWED


async def test_p2_p5_of_50_parallel_clicks_from_everywhere_one_decides(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(PEOPLE, quorum=HIGH, askers=["cy"], owned=OWNED, breakers=["ana"])
    ways = [
        ("ana", "gateway", GLASS),
        ("bo", "console", {}),
        ("cy", "slack", {"answer": DecisionKind.DENIED, "reason": "no"}),
        ("bo", "slack", {}),
        ("eve", "gateway", GLASS),
    ]
    taken = await asyncio.gather(
        *(decide(desk, by, surface, **said) for by, surface, said in ways * 10)
    )
    ends = [one.state for one in taken if one.refusal is None]
    assert len(ends) == 1
    assert len(desk.bus.published) == 1
    assert (await desk.approvals.get(RUN, PLAN)).state is ends[0]


async def test_p2_p5_of_400_mixed_decisions_with_a_quorum_there_is_one_outcome(two):
    answers = [DecisionKind.GRANTED] * 19 + [DecisionKind.DENIED]
    taken = await asyncio.gather(
        *(
            decide(two, (*PEOPLE, "eve")[n % 4], ("slack", "gateway")[n % 2], answers[n % 20])
            for n in range(400)
        )
    )
    ends = [one.state for one in taken if one.refusal is None and one.state != "pending"]
    partial = [one for one in taken if one.refusal is None and one.state == "pending"]
    assert len(ends) == 1
    assert len(partial) <= 1, "of three people, the second yes is whole"
    assert len(two.bus.published) == 1 + len(partial)
    approval = await two.approvals.get(RUN, PLAN)
    assert approval.state is ends[0]
    yes = {one.decided_by for one in taken if one.refusal is None}
    assert "eve" not in yes
    if approval.state is ApprovalState.GRANTED:
        assert len(approval.decisions) == len({one.by for one in approval.decisions}) == 2
    assert {one.refusal for one in taken} <= {
        None,
        Refusal.ALREADY,
        Refusal.SAID_ALREADY,
        Refusal.NOT_ALLOWED,
    }


async def test_a_nonce_decides_once(desk):
    nonce = await desk.mint()
    await desk.redeem(nonce)
    again = await desk.redeem(nonce)
    assert again.refusal is Refusal.BAD_TOKEN
    assert len(desk.bus.published) == 1


async def test_a_newer_nonce_of_a_surface_makes_the_older_one_void(desk):
    older, newer = await desk.mint(), await desk.mint()
    assert (await desk.redeem(older)).refusal is Refusal.BAD_TOKEN
    assert (await desk.redeem(newer)).refusal is None


async def test_who_comes_second_hears_who_was_first(desk):
    second = await desk.mint("console")
    await desk.redeem(await desk.mint())
    desk.clock.advance(60)
    refused = await desk.redeem(second, surface="console", by="bo", answer=DecisionKind.DENIED)
    assert refused == kit.Redeemed(Refusal.ALREADY, ApprovalState.GRANTED, "ana", NOW)


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"nonce": "guessed"}, Refusal.BAD_TOKEN),
        ({"nonce": ""}, Refusal.BAD_TOKEN),
        ({"surface": "console"}, Refusal.BAD_TOKEN),
        ({"run_id": "another"}, Refusal.UNKNOWN),
        ({"plan_hash": "f" * 64}, Refusal.UNKNOWN),
        ({"plan_hash": PLAN[:12] + "0" * 52}, Refusal.PLAN_CHANGED),
        ({"by": "mallory"}, Refusal.NOT_ALLOWED),
        ({"by": ""}, Refusal.NOT_ALLOWED),
        ({"by": "an"}, Refusal.NOT_ALLOWED),
    ],
)
async def test_p3_what_is_not_exactly_right_is_refused(desk, changes, refusal):
    nonce = await desk.mint()
    assert (await desk.redeem(**({"nonce": nonce} | changes))).refusal is refusal
    assert desk.bus.published == []
    assert (await desk.approvals.get(RUN, PLAN)).state is ApprovalState.PENDING


async def test_p3_a_nonce_of_one_run_decides_no_other_that_waits(desk):
    await desk.ask(run_id="r9")
    nonce = await desk.mint()
    await desk.approvals.mint("r9", PLAN, "slack")
    assert (await desk.redeem(nonce, run_id="r9")).refusal is Refusal.BAD_TOKEN
    for run_id in (RUN, "r9"):
        assert (await desk.approvals.get(run_id, PLAN)).state is ApprovalState.PENDING


async def test_p3_who_proposes_a_change_may_not_approve_it(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(approvers=["ana", kit.PROPOSER])
    refused = await desk.redeem(await desk.mint(), by=kit.PROPOSER)
    assert refused.refusal is Refusal.SELF_APPROVAL


async def test_p3_nobody_may_decide_where_no_approver_is_named(redis):
    desk = Desk(redis, FakeClock())
    await desk.ask(approvers=[])
    for by in ("ana", ""):
        assert (await desk.redeem(await desk.mint(), by=by)).refusal is Refusal.NOT_ALLOWED


async def test_p3_a_decision_that_comes_too_late_is_refused(desk):
    nonce = await desk.mint()
    desk.clock.advance(4 * 3600)
    assert (await desk.redeem(nonce)).refusal is Refusal.EXPIRED
    assert desk.bus.published == []


async def test_p3_a_run_that_no_longer_waits_takes_no_decision(desk, redis):
    nonce = await desk.mint()
    await redis.hset(keys.run(RUN), "state", RunState.CANCELLED)
    assert (await desk.redeem(nonce)).refusal is Refusal.NOT_WAITING


async def test_p3_a_missing_record_refuses(desk, redis):
    nonce = await desk.mint()
    await redis.delete(keys.approval(RUN, PLAN))
    assert (await desk.redeem(nonce)).refusal is Refusal.UNKNOWN
    assert await desk.approvals.get(RUN, PLAN) is None


async def test_what_a_lost_record_left_behind_keeps_no_approval_from_being_opened(desk, redis):
    key = keys.approval(RUN, PLAN)
    await redis.delete(key)
    await redis.hset(key, mapping={"nonce:slack": "0" * 64, "rule": "rule:small"})
    assert (await desk.redeem("x")).refusal is Refusal.UNKNOWN
    again = await desk.approvals.open(RUN, PLAN, ["ana"], DUE)
    assert (again.state, again.approvers) == (ApprovalState.PENDING, ("ana",))
    assert (await desk.redeem(await desk.mint())).refusal is None


async def test_p3_minting_for_an_unknown_approval_makes_none(desk, redis):
    await redis.delete(keys.approval(RUN, PLAN))
    nonce = await desk.mint()
    assert (await desk.redeem(nonce)).refusal is Refusal.UNKNOWN


async def test_p6_the_store_keeps_no_nonce_that_could_be_redeemed(desk, redis):
    nonce = await desk.mint()
    record = await redis.hgetall(keys.approval(RUN, PLAN))
    assert nonce not in "".join(record.values())
    await desk.redeem(nonce)
    assert nonce not in desk.bus.published[0].model_dump_json()


async def test_p1_a_crash_between_deciding_and_telling_is_healed_by_another_redeemer(desk, redis):
    desk.bus.down = outage("the bus did not store it")
    taken = await desk.redeem(await desk.mint())
    assert taken.refusal is None, "the decision stands, though nobody has heard of it yet"
    healer = Desk(redis, desk.clock)
    assert await healer.outbox.flush() == 1
    (granted,) = healer.bus.published
    assert (granted.decision.by, granted.run_id) == ("ana", RUN)
    assert await healer.outbox.flush() == 0


async def test_opening_an_approval_again_changes_nothing(desk):
    await desk.redeem(await desk.mint())
    again = await desk.approvals.open(RUN, PLAN, ["mallory"], DUE + timedelta(days=1))
    assert (again.state, again.approvers) == (ApprovalState.GRANTED, ("ana", "bo"))
    assert again.expires_at == DUE


async def test_an_approval_expires_only_when_it_is_due(desk):
    assert await desk.approvals.expire(RUN, PLAN) is ApprovalState.PENDING
    desk.clock.advance(4 * 3600)
    assert await desk.approvals.expire(RUN, PLAN) is ApprovalState.EXPIRED
    refused = await desk.redeem(await desk.mint())
    assert (refused.refusal, refused.state) == (Refusal.ALREADY, ApprovalState.EXPIRED)


async def test_a_decision_that_was_taken_never_expires(desk):
    await desk.redeem(await desk.mint())
    desk.clock.advance(5 * 3600)
    assert await desk.approvals.expire(RUN, PLAN) is ApprovalState.GRANTED


async def test_a_withdrawn_approval_takes_no_decision(desk):
    nonce = await desk.mint()
    assert await desk.approvals.withdraw(RUN, PLAN) is ApprovalState.WITHDRAWN
    refused = await desk.redeem(nonce)
    assert (refused.refusal, refused.state) == (Refusal.ALREADY, ApprovalState.WITHDRAWN)
    assert await desk.approvals.withdraw(RUN, "f" * 64) is None


async def test_an_approval_is_not_kept_for_ever(desk, redis):
    assert await redis.ttl(keys.approval(RUN, PLAN)) > 0


@pytest.mark.parametrize("by", ["ana", "mallory"])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("answer", DecisionKind)
@pytest.mark.parametrize(
    "needs",
    [
        *({"quorum": one, "askers": who} for one in (ONE, TWO, HIGH) for who in ((), ("ana",))),
        {"owned": OWNED},
        {"quorum": TWO, "owned": {"a.yaml": ("ana",)}, "askers": ("ana",)},
    ],
)
async def test_the_fake_decides_as_the_real_one_does(redis, by, late, answer, needs):
    desk = Desk(redis, FakeClock())
    await desk.ask(**needs)
    fake = FakeApprovals(desk.clock, await desk.approvals.get(RUN, PLAN))
    if late:
        desk.clock.advance(4 * 3600)
    for who, surface in ((by, "slack"), (by, "slack"), (by, "gateway"), ("bo", "slack")):
        said = {"run_id": RUN, "plan_hash": PLAN, "answer": answer, "reason": "no"}
        said |= {"by": who, "surface": surface}
        desk.clock.advance(1)
        assert await fake.decide(**said) == await desk.approvals.decide(**said)
    assert await fake.get(RUN, PLAN) == await desk.approvals.get(RUN, PLAN)


@pytest.mark.parametrize("answer", DecisionKind)
@pytest.mark.parametrize("surface", ["slack", "gateway"])
@pytest.mark.parametrize("by", ["ana", "bo"])
async def test_the_fake_breaks_the_glass_as_the_real_one_does(redis, by, surface, answer):
    desk = Desk(redis, FakeClock())
    await desk.ask(quorum=HIGH, breakers=["ana"], owned=OWNED, askers=["ana"])
    fake = FakeApprovals(desk.clock, await desk.approvals.get(RUN, PLAN))
    for reason in ("short", "the shop is down", "the shop is down"):
        said = {"run_id": RUN, "plan_hash": PLAN, "answer": answer, "reason": reason}
        said |= {"by": by, "surface": surface, "break_glass": True}
        assert await fake.decide(**said) == await desk.approvals.decide(**said)
    assert await fake.get(RUN, PLAN) == await desk.approvals.get(RUN, PLAN)
