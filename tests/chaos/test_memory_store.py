"""The run store of the simulation answers as the scripts do, step for step."""

import json
from datetime import timedelta

import pytest

from tocsin_contracts import (
    ApprovalRequested,
    HypothesisFormed,
    IncidentOpened,
    PlanDrafted,
    RunId,
    RunState,
)
from tocsin_kit import store
from tocsin_kit.errors import TransientError
from tocsin_kit.moves import ANY, OPEN, move
from tocsin_kit.run_view import RunReader
from tocsin_kit.runs import BeginVerdict, RunStore
from tocsin_testing import build
from tocsin_testing.chaos.chance import Chance
from tocsin_testing.fakes import FakeClock
from tocsin_testing.simulation.store import MemoryRuns

pytestmark = pytest.mark.servers

SERVICES = ("rca", "action")
RUNS = (RunId("r0"), RunId("r1"))
KINDS = (IncidentOpened, HypothesisFormed, PlanDrafted)
ANSWERS = (HypothesisFormed, ApprovalRequested, None)
MOVES = (
    ANY,
    OPEN,
    move(RunState.RECEIVED, during=RunState.INVESTIGATING),
    move(RunState.VALIDATING),
    move(RunState.AWAITING_APPROVAL, during=RunState.APPLYING),
)
ENDED = (RunState.FAILED, RunState.CANCELLED)
ATTEMPTS, LEASE = 2, 600
STEPS = 60


class Pair:
    """Does every step on both stores; `leases` holds what each gave out."""

    def __init__(self, redis, chance):
        self.clock, self.chance = FakeClock(), chance
        self.real = RunStore(
            redis, lease_seconds=LEASE, max_attempts=ATTEMPTS, ttl_days=3650, clock=self.clock
        )
        self.reader = RunReader(redis)
        self.memory = MemoryRuns(self.clock, lease_seconds=LEASE, max_attempts=ATTEMPTS)
        self.held = []

    def event(self):
        kind, run_id = self.chance.choice(KINDS), self.chance.choice(RUNS)
        version = int(self.chance.number() * 6) if self.chance.happens(0.3) else 0
        name = f"{kind.topic}-{run_id}-{int(self.chance.number() * 2)}"
        return build.event(kind, run_id=run_id, id=name, run_version=version)

    def answer(self, run_id):
        if self.chance.happens(0.1):
            return [build.run_finished(run_id=run_id, outcome=self.chance.choice(ENDED))]
        kind = self.chance.choice(ANSWERS)
        return [build.event(kind, run_id=run_id)] if kind else []

    async def begin(self):
        event, allowed = self.event(), self.chance.choice(MOVES)
        service = self.chance.choice(SERVICES)
        one = await self.real.begin(event, service, allowed)
        other = await self.memory.begin(event, service, allowed)
        if one.verdict in (BeginVerdict.GO, BeginVerdict.EXHAUSTED):
            self.held.append((one.lease, other.lease, allowed, event))
        shown = [(b.verdict, b.stored, b.cause, b.wait > 0) for b in (one, other)]
        return shown[0], shown[1]

    async def commit(self):
        if not self.held:
            return None, None
        one, other, allowed, event = self.chance.choice(self.held)
        outgoing = self.answer(event.run_id)
        return (
            await told(self.real.commit(one, allowed, event, outgoing)),
            await told(self.memory.commit(other, allowed, event, outgoing)),
        )

    async def renew(self):
        if not self.held:
            return None, None
        one, other, *_ = self.chance.choice(self.held)
        return await self.real.renew(one), await self.memory.renew(other)

    async def release(self):
        if not self.held:
            return None, None
        one, other, *_ = self.chance.choice(self.held)
        how = {"counted": self.chance.happens(0.7), "cause": self.chance.choice(("", "because"))}
        return await self.real.release(one, **how), await self.memory.release(other, **how)

    async def create(self):
        event = build.alert_accepted(run_id=self.chance.choice(RUNS))
        return await self.real.create(event), await self.memory.create(event)

    async def cancel(self):
        run_id = self.chance.choice(RUNS)
        return await self.real.cancel(run_id), await self.memory.cancel(run_id)

    async def look(self):
        run_id = self.chance.choice(RUNS)
        return shown(await self.reader.get(run_id)), shown(await self.memory.get(run_id))


async def told(doing):
    try:
        return await doing
    except TransientError as error:
        return str(error)


def shown(run):
    facts = run and {topic: json.loads(f.model_dump_json()) for topic, f in run.facts.items()}
    return run and (run.state, run.version, run.cancel_requested, facts)


@pytest.mark.parametrize("seed", range(12))
async def test_any_steps_have_the_same_answers_in_memory_and_in_the_scripts(redis_url, seed):
    redis, chance = store.connect(redis_url), Chance(f"steps {seed}")
    pair = Pair(redis, chance)
    steps = [pair.begin, pair.commit, pair.begin, pair.commit, pair.renew, pair.release]
    steps += [pair.create, pair.cancel, pair.look, pair.look]
    try:
        for number in range(STEPS):
            step = chance.choice(steps)
            pair.clock.advance(timedelta(seconds=1).total_seconds())
            real, memory = await step()
            assert memory == real, f"step {number}: {step.__name__}"
    finally:
        await redis.aclose()
