"""One seed: alerts, people and faults at once on real processes, then peace, then the verdict."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nats.errors import Error as NatsError

from tocsin_contracts import RunId, RunState
from tocsin_contracts.views import DecisionKind, RunSummary, RunView
from tocsin_kit.errors import TocsinError
from tocsin_testing.chaos.chance import Chance
from tocsin_testing.chaos.checker import RESTING, violations
from tocsin_testing.chaos.history import History, Said
from tocsin_testing.chaos.nemesis import NEMESES, heal
from tocsin_testing.chaos.world import World, world
from tocsin_testing.harness import until

FAULTS = 7
DELIVERIES = 6
REPEATED = 4
HEALED_SECONDS = 120.0
CLUSTERS = ("prod-eu-1", "prod-eu-2", "")
"""Alerts of other clusters are other incidents; one without a cluster is its own."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a seed: the faults in their order, and each promise that was broken."""

    seed: str
    did: tuple[str, ...]
    broken: tuple[str, ...]
    history: History
    log: tuple[str, ...] = ()


async def play(seed: object, folder: Path, faults: int = FAULTS) -> Verdict:
    """Play one history with so many faults, and judge it."""
    async with world(folder, Chance(f"faults {seed}")) as here:
        people = asyncio.create_task(_decide(here, Chance(f"people {seed}")))
        alerts = asyncio.create_task(_deliver(here, Chance(f"alerts {seed}")))
        await _harm(here, faults)
        heal(here)
        await alerts
        broken = await _settle(here)
        people.cancel()
        await asyncio.wait([people])
        history = await here.history()
        return Verdict(
            str(seed),
            tuple(here.did),
            (*broken, *violations(history)),
            history,
            tuple(here.running.log),
        )


async def _harm(here: World, faults: int) -> None:
    for _ in range(faults):
        await asyncio.sleep(here.chance.uniform(0.1, 1.5))
        name = here.chance.choice(list(NEMESES))
        here.did.append(name)
        with suppress(NatsError, TimeoutError, AssertionError):
            await NEMESES[name](here)


async def _deliver(here: World, chance: Chance) -> None:
    """Deliver alerts, some again and again, until each was answered with 2xx."""
    payload = json.loads(here.running.scene.payload.read_bytes())
    for number in range(DELIVERIES):
        await asyncio.sleep(chance.uniform(0.0, 1.5))
        body = json.dumps(_placed(payload, CLUSTERS[number % len(CLUSTERS)])).encode()
        for _ in range(1 + int(chance.number() * REPEATED)):
            receipt = await _delivered(here, body)
            here.taken += [RunId(one.run_id) for one in receipt if one.run_id]


async def _delivered(here: World, body: bytes) -> tuple[Any, ...]:
    while True:
        try:
            return (await here.running.ingest.alertmanager(body)).alerts
        except TocsinError:
            await asyncio.sleep(0.1)


def _placed(payload: Any, cluster: str) -> Any:
    alerts = [dict(one, labels=dict(one["labels"], cluster=cluster)) for one in payload["alerts"]]
    for one in alerts:
        one["fingerprint"] = (one["fingerprint"] + cluster.encode().hex())[-16:]
        if not cluster:
            del one["labels"]["cluster"]
    return {**payload, "alerts": alerts}


async def _decide(here: World, chance: Chance) -> None:
    """Answer every plan that waits, some with no, until somebody has heard it."""
    refused: set[str] = set()
    while True:
        await asyncio.sleep(0.2)
        try:
            for run in await here.running.gateway.runs(RunState.AWAITING_APPROVAL):
                await _answer(here, await here.running.gateway.run(run.run_id), chance, refused)
        except TocsinError as error:
            here.running.log.append(f"people: {error}")


async def _answer(here: World, run: RunView, chance: Chance, refused: set[str]) -> None:
    if run.plan is None:
        return
    plan_hash = run.plan.plan_hash
    if not any(said.plan_hash == plan_hash for said in here.said) and chance.happens(0.2):
        refused.add(plan_hash)
    answer = DecisionKind.DENIED if plan_hash in refused else DecisionKind.GRANTED
    here.said.append(Said(datetime.now(UTC), RunId(run.run_id), plan_hash, answer))
    if answer is DecisionKind.DENIED:
        await here.running.gateway.reject(run.run_id, plan_hash, "not now")
    else:
        await here.running.gateway.approve(run.run_id, plan_hash)


async def _settle(here: World) -> list[str]:
    """Wait until every run rests and nothing waits; say it if that never comes."""
    try:
        await until(lambda: _is_quiet(here), bool, HEALED_SECONDS)
    except AssertionError:
        return [f"no peace within {HEALED_SECONDS:g} s after the last fault"]
    return []


async def _is_quiet(here: World) -> bool:
    """Whether nothing waits, twice in a row: consumers are looked at one after the other."""
    await asyncio.sleep(0.2)
    with suppress(TocsinError, NatsError, TimeoutError):
        runs: tuple[RunSummary, ...] = await here.running.gateway.runs()
        resting = all(run.state in RESTING for run in runs)
        return bool(runs) and resting and not any([await here.bus.waiting() for _ in range(2)])
    return False
