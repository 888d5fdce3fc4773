"""Copies, wrong order, poison, lost memory and random kills: still one pull request, or none."""

import asyncio
import json
import os
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP

import pytest

from tocsin_cli.demo import proof
from tocsin_contracts import (
    ApprovalGranted,
    Decision,
    HypothesisFormed,
    PullRequestOpened,
    RunState,
)
from tocsin_contracts.views import ApprovalState, RunView
from tocsin_kit import store
from tocsin_kit.errors import TocsinError
from tocsin_kit.topology import PARKED
from tocsin_testing.crashing import CrashPoint
from tocsin_testing.harness import until
from tocsin_testing.pipeline import Crash, Pipeline, pipeline
from tocsin_testing.wire import wire

pytestmark = pytest.mark.e2e

NOTHING = proof.Written((), ())
SEEDS = (1, 2, 3, 4)
KILLS = 8
PAUSE = (0.3, 1.0)
HEALED_SECONDS = 90


async def waiting(running: Pipeline) -> RunView:
    """Fire the alerts; return the run once its plan waits for a decision."""
    receipt = await running.fire()
    return await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)


def one_pull_request(running: Pipeline) -> bool:
    written = running.written
    return proof.one_pull_request(written).holds and proof.is_the_fix(
        proof.diff(running.scene, written.branches[0])
    )


async def test_p5_every_fact_again_in_reverse_order_changes_nothing(tmp_path):
    async with pipeline(tmp_path) as running, wire(running.nats_server.url) as bus:
        run = await waiting(running)
        await running.approve(run.run_id)
        before = await running.reach(run.run_id, RunState.PR_OPEN)
        await bus.drained()
        written, facts = running.written, await bus.stored()
        for number, message in enumerate(reversed(facts)):
            await bus.put(message.subject, message.data, f"copy:{number}")
        await bus.drained()

        after = await bus.stored()
        assert [m.data for m in after[len(facts) :]] == [m.data for m in reversed(facts)]
        assert running.written == written
        assert one_pull_request(running)
        run = await running.gateway.run(run.run_id)
        assert (run.state, run.plan, run.approval) == (before.state, before.plan, before.approval)
        assert await bus.stored(PARKED) == []


async def test_p3_a_yes_on_the_bus_that_nobody_said_writes_nothing(tmp_path):
    async with pipeline(tmp_path) as running, wire(running.nats_server.url) as bus:
        run = await waiting(running)
        assert run.plan is not None
        assert run.approval is not None
        decision = Decision(
            approval_id=run.approval.id,
            plan_hash=run.plan.plan_hash,
            by="local",
            surface="gateway",
            decided_at=run.created_at,
        )
        forged = ApprovalGranted(run_id=run.run_id, decision=decision).caused_by("forged", "rca")
        await bus.put(forged.subject, forged.model_dump_json().encode(), forged.id)
        asked = run.timeline[-1].at
        again = await running.until(
            run.run_id,
            lambda now: now.state is RunState.AWAITING_APPROVAL and now.timeline[-1].at > asked,
        )
        assert running.written == NOTHING
        assert again.approval is not None
        assert again.approval.state is ApprovalState.PENDING
        await running.approve(run.run_id)
        await running.reach(run.run_id, RunState.PR_OPEN)
        assert one_pull_request(running)


async def kill_at_random(running: Pipeline, seed: int) -> None:
    """Kill one service after the other, as the seed says."""
    chance = random.Random(seed)  # noqa: S311 - the same kills for the same seed, not a secret
    names = sorted(running.supervisor.pids)
    for _ in range(KILLS):
        await asyncio.sleep(chance.uniform(*PAUSE))
        victim = chance.choice(names)
        if pid := running.supervisor.pids.get(victim):
            running.log.append(f"test: killing {victim}")
            with suppress(ProcessLookupError):
                os.kill(pid, SIGKILL)


async def insist(running: Pipeline, run_id: str) -> None:
    """Say yes until somebody has heard it."""
    states = (RunState.AWAITING_APPROVAL, RunState.APPLYING, RunState.PR_OPEN)
    run = await running.reach(run_id, *states, seconds=HEALED_SECONDS)
    while run.state is RunState.AWAITING_APPROVAL:
        assert run.plan is not None
        with suppress(TocsinError):
            await running.gateway.approve(run_id, run.plan.plan_hash)
        await asyncio.sleep(0.1)
        run = await running.until(run_id, lambda _: True, HEALED_SECONDS)


@pytest.mark.parametrize("seed", SEEDS)
async def test_p1_to_p8_random_kills_end_in_exactly_one_pull_request(tmp_path, seed):
    async with pipeline(tmp_path) as running, wire(running.nats_server.url) as bus:
        killing = asyncio.create_task(kill_at_random(running, seed))
        receipt = await running.fire()
        await insist(running, receipt.run_id)
        await running.reach(receipt.run_id, RunState.PR_OPEN, seconds=HEALED_SECONDS)
        await killing
        await bus.drained(HEALED_SECONDS)
        assert one_pull_request(running)
        facts = await running.facts()
        assert Counter(type(f) for f in facts)[PullRequestOpened] == 1
        assert len({fact.id for fact in facts}) == len(facts)


async def test_a_poisoned_message_ends_its_own_run_and_no_other(tmp_path):
    async with pipeline(tmp_path) as running, wire(running.nats_server.url) as bus:
        poisoned = await waiting(running)
        subject = HypothesisFormed.pattern().replace("*", poisoned.run_id)
        await bus.put(subject, b"\x00 no event {", "poison")
        ended = await running.reach(poisoned.run_id, RunState.FAILED)
        assert ended.finished is not None
        assert ended.finished.reason == "handler_failed"
        assert "validation gave up: a message that is no HypothesisFormed" in ended.ended
        letters = [json.loads(message.data) for message in await bus.stored(PARKED)]
        (letter,) = [one for one in letters if one["service"] == "validation"]
        assert {one["event_id"] for one in letters} == {"poison"}
        assert letter["cause"] in ended.ended

        assert poisoned.plan is not None
        with pytest.raises(TocsinError):
            await running.gateway.approve(poisoned.run_id, poisoned.plan.plan_hash)

        payload = json.loads(running.scene.payload.read_bytes())
        for alert in payload["alerts"]:
            del alert["labels"]["cluster"]
        receipt = await running.fire(json.dumps(payload).encode())
        assert receipt.run_id != poisoned.run_id
        await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
        await running.approve(receipt.run_id)
        await running.reach(receipt.run_id, RunState.PR_OPEN)
        await bus.drained()
        assert one_pull_request(running)


async def test_p3_a_wiped_store_approves_nothing_and_the_next_alert_starts_over(tmp_path):
    async with pipeline(tmp_path) as running, wire(running.nats_server.url) as bus:
        run = await waiting(running)
        assert run.plan is not None
        client = store.connect(running.valkey_server.url)
        await client.flushall()
        await client.aclose()
        with pytest.raises(TocsinError):
            await running.gateway.approve(run.run_id, run.plan.plan_hash)
        assert running.written == NOTHING

        again = await waiting(running)
        assert again.approval is not None
        assert again.approval.state is ApprovalState.PENDING
        await running.approve(again.run_id)
        await running.reach(again.run_id, RunState.PR_OPEN)
        await bus.drained()
        assert one_pull_request(running)


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


async def test_p2_a_worker_that_wakes_up_after_its_lease_is_over_opens_nothing_more(tmp_path):
    stop = Crash("action", CrashPoint.AFTER_BRANCH, SIGSTOP)
    async with (
        pipeline(tmp_path, crash=stop, replicas=2) as running,
        wire(running.nats_server.url) as bus,
    ):
        pids = [pid for name, pid in running.supervisor.pids.items() if name.startswith("action")]
        run = await waiting(running)
        await running.approve(run.run_id)

        async def stopped() -> list[int]:
            return [pid for pid in pids if is_stopped(pid)]

        (pid,) = await until(stopped, lambda found: len(found) == 1)
        try:
            opened = await running.reach(run.run_id, RunState.PR_OPEN)
            written = running.written
            assert is_stopped(pid), "another worker took over while this one slept"
        finally:
            os.kill(pid, SIGCONT)
        await bus.drained()
        assert running.written == written
        assert one_pull_request(running)
        assert (await running.gateway.run(run.run_id)).pull_request == opened.pull_request
        kinds = Counter(type(fact) for fact in await running.facts())
        assert kinds[PullRequestOpened] == kinds[ApprovalGranted] == 1
