"""What goes wrong in a history of real processes; each fault ends by itself, or in `heal`."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from tocsin_contracts import ApprovalGranted, ApprovalRequested, Decision
from tocsin_kit.processes import ServerProcess
from tocsin_testing.chaos.world import STRANGE, World
from tocsin_testing.slack.world import Fault, rate_limited

SLACK_FAULTS = (
    rate_limited(1),
    Fault("internal_error", 500),
    Fault(lost=True),
    Fault("fatal_error"),
)
POSTING = ("chat.postMessage", "chat.update", "conversations.history")
TROUBLE = 0.4

Nemesis = Callable[[World], Awaitable[None]]


async def kill_a_service(world: World) -> None:
    """SIGKILL; its supervisor starts it again."""
    _signal(world, world.chance.choice(sorted(world.running.supervisor.pids)), signal.SIGKILL)


async def freeze_a_service(world: World) -> None:
    """SIGSTOP for longer than its lease, then let it act on what it still believes."""
    name = world.chance.choice(sorted(world.running.supervisor.pids))
    pid = world.running.supervisor.pids[name]
    _signal(world, name, signal.SIGSTOP)
    try:
        await asyncio.sleep(world.chance.uniform(1.0, 3.5))
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


async def roll_every_service(world: World) -> None:
    """SIGTERM one after the other, as a rolling restart does."""
    for name in sorted(world.running.supervisor.pids):
        _signal(world, name, signal.SIGTERM)
        await asyncio.sleep(world.chance.uniform(0.1, 0.6))


async def kill_the_bus(world: World) -> None:
    """SIGKILL of nats-server, back after a while."""
    await _killed(world, world.running.nats_server)


async def kill_the_store(world: World) -> None:
    """SIGKILL of valkey-server, back after a while."""
    await _killed(world, world.running.valkey_server)


async def silence_the_bus(world: World) -> None:
    """Connections to nats-server stay open, and nothing comes back: a partition, for everybody."""
    await _silent(world, world.running.nats_server)


async def silence_the_store(world: World) -> None:
    """The same for valkey-server."""
    await _silent(world, world.running.valkey_server)


async def say_everything_again(world: World) -> None:
    """Every fact so far once more, in any order, past the window in which the bus knows copies."""
    facts = world.chance.shuffled(await world.bus.stored())
    for number, message in enumerate(facts):
        name = f"copy:{world.chance.number()}:{number}"
        await world.bus.put(message.subject or "", message.data or b"", name)


async def forge_a_yes(world: World) -> None:
    """A yes on the bus that nobody said, to every plan that waits."""
    for asked in [f for f in await world.facts() if isinstance(f, ApprovalRequested)]:
        decision = Decision(
            approval_id=asked.approval_id,
            plan_hash=asked.plan.plan_hash,
            by="local",
            surface="gateway",
            decided_at=datetime.now(UTC),
        )
        name = f"{STRANGE}{world.chance.number()}"
        forged = ApprovalGranted(id=name, run_id=asked.run_id, decision=decision)
        await world.bus.put(forged.subject, forged.model_dump_json().encode(), forged.id)


async def poison(world: World) -> None:
    """Bytes that are no event, below the subject of one, for a run that nobody knows."""
    for kind in (ApprovalGranted, ApprovalRequested):
        name = f"{STRANGE}{int(world.chance.number() * 1e9)}"
        await world.bus.put(kind.pattern().replace("*", name), b"\x00 no event {", name)


async def trouble_the_forge(world: World) -> None:
    """For a while the forge refuses requests, or loses its answers to them."""
    world.forge.trouble = TROUBLE
    await asyncio.sleep(world.chance.uniform(1.0, 4.0))
    world.forge.trouble = 0.0


async def trouble_slack(world: World) -> None:
    """The next calls are refused or lose their answers."""
    for method in POSTING:
        faults = [world.chance.choice(SLACK_FAULTS) for _ in range(2)]
        world.slack.world.faults[method].extend(faults)


NEMESES: Mapping[str, Nemesis] = {
    one.__name__: one
    for one in (
        kill_a_service,
        freeze_a_service,
        roll_every_service,
        kill_the_bus,
        kill_the_store,
        silence_the_bus,
        silence_the_store,
        say_everything_again,
        forge_a_yes,
        poison,
        trouble_the_forge,
        trouble_slack,
    )
}


LEFT_OUT: Mapping[str, str] = {
    "a partition of one service only": "every service is on one loopback interface here",
    "a full disk below bus and store": "it needs a file system of its own, and the right to mount",
    "clocks that differ between services": "the processes of one machine share its clock",
}
"""Faults that no seed holds, and why; docs/faults.md says what tests them instead."""


def heal(world: World) -> None:
    """End every trouble that is left."""
    world.forge.trouble = 0.0
    world.slack.world.faults.clear()
    for server in (world.running.nats_server, world.running.valkey_server):
        server.start()


def _signal(world: World, name: str, number: signal.Signals) -> None:
    if pid := world.running.supervisor.pids.get(name):
        world.did.append(f"{number.name} {name}")
        with suppress(ProcessLookupError):
            os.kill(pid, number)


async def _killed(world: World, server: ServerProcess) -> None:
    server.kill()
    await asyncio.sleep(world.chance.uniform(0.0, 3.0))
    server.start()


async def _silent(world: World, server: ServerProcess) -> None:
    pid = server.pid
    if pid is None:
        return
    os.kill(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(world.chance.uniform(1.0, 6.0))
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
