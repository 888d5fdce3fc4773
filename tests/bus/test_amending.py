"""A plan that is being changed and a decision about it, on a real store: only one of them holds."""

import asyncio
from datetime import timedelta

import pytest

from tocsin_contracts import PlanDrafted, RunState
from tocsin_contracts.amending import AmendmentRefused, AmendmentRequested
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_kit import approvals as kit
from tocsin_kit import store
from tocsin_kit.approvals import Approvals, Refusal
from tocsin_kit.moves import move
from tocsin_kit.outbox import Outbox
from tocsin_kit.run_view import RunReader
from tocsin_kit.runs import BeginVerdict, RunStore
from tocsin_testing import build
from tocsin_testing.build import NOW, RUN
from tocsin_testing.fakes import FakeClock, FakePublisher

pytestmark = pytest.mark.servers

PLAN = build.plan().plan_hash
AMENDING = move(RunState.AWAITING_APPROVAL, during=RunState.VALIDATING)
WISH = build.event(AmendmentRequested)


class Desk:
    """A run whose plan waits."""

    def __init__(self, client):
        self.clock, self.bus = FakeClock(), FakePublisher()
        self.runs, self.reader = RunStore(client, clock=self.clock), RunReader(client)
        outbox = Outbox(client, kit.OWNER, kit.read, self.bus.publish, self.clock)
        self.approvals = Approvals(client, outbox, self.clock)

    async def ask(self):
        event, received = build.plan_drafted(), move(RunState.RECEIVED)
        begin = await self.runs.begin(event, "action", received)
        await self.runs.commit(begin.lease, received, event, [build.approval_requested()])
        await self.approvals.open(RUN, PLAN, ("ana", "bo"), NOW + timedelta(hours=4))

    async def yes(self):
        return await self.approvals.decide(
            run_id=RUN,
            plan_hash=PLAN,
            surface="gateway",
            answer=DecisionKind.GRANTED,
            by="bo",
            reason="",
        )

    async def amends(self):
        """Begin to work on the wish; return the lease and whether the plan is still undecided."""
        begin = await self.runs.begin(WISH, "validation", AMENDING)
        assert begin.verdict is BeginVerdict.GO
        approval = await self.approvals.get(RUN, PLAN)
        return begin.lease, approval.state is ApprovalState.PENDING

    async def state(self):
        return (await self.reader.get(RUN)).state


@pytest.fixture
async def desk(redis_url):
    client = store.connect(redis_url)
    desk = Desk(client)
    await desk.ask()
    yield desk
    await client.aclose()


async def test_p3_nobody_decides_about_a_plan_that_is_being_changed(desk):
    await desk.amends()
    assert (await desk.yes()).refusal is Refusal.NOT_WAITING


async def test_a_plan_that_stays_is_decided_as_before(desk):
    lease, _ = await desk.amends()
    refused = build.event(AmendmentRefused)
    assert await desk.runs.commit(lease, AMENDING, WISH, [refused])
    assert await desk.state() is RunState.AWAITING_APPROVAL
    assert (await desk.yes()).state is ApprovalState.GRANTED


async def test_a_new_plan_goes_to_people_and_the_old_one_takes_no_yes_any_more(desk):
    lease, _ = await desk.amends()
    drafted = build.event(PlanDrafted, id="new", plan=build.plan(title="512Mi"))
    assert await desk.runs.commit(lease, AMENDING, WISH, [drafted])
    assert await desk.state() is RunState.VALIDATING
    assert (await desk.yes()).refusal is Refusal.NOT_WAITING


async def test_p1_a_worker_that_died_over_a_change_is_followed_by_another(desk):
    lease, _ = await desk.amends()
    await desk.runs.release(lease, counted=False)
    again = await desk.runs.begin(WISH, "validation", AMENDING)
    assert again.verdict is BeginVerdict.GO


@pytest.mark.parametrize("_", range(20))
async def test_p2_of_a_yes_and_a_change_at_once_exactly_one_holds(desk, _):
    taken, (_lease, undecided) = await asyncio.gather(desk.yes(), desk.amends())
    assert (taken.refusal is None) is not undecided
