"""What `/ready` says: that work is taken, and what an operator should know of it."""

import asyncio

import httpx
import pytest
from starlette.applications import Starlette

from tocsin_kit.health import Health
from tocsin_testing.fakes import outage
from tocsin_testing.harness import until


class Servers:
    """A bus and a store in one, which a test may take away."""

    down = None

    async def canary(self):
        if self.down:
            raise self.down

    async def ping(self):
        return True


class Spool:
    """A fallback with so much in it."""

    def __init__(self, waiting=0, has_room=True):
        self.waiting = waiting
        self.has_room = has_room


async def ready(spool=None, notice="", down=None):
    servers = Servers()
    servers.down = down
    health = Health(servers, servers, spool, lambda: notice)
    transport = httpx.ASGITransport(Starlette(routes=health.routes()))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await client.get("/ready")
    return answer.status_code, answer.json()


@pytest.mark.parametrize("spool", [None, Spool()])
async def test_a_service_that_is_well_says_no_more_than_that(spool):
    assert await ready(spool) == (200, {"status": "ready"})


async def test_a_service_that_refuses_new_runs_is_ready_and_says_so():
    told = await ready(notice="new runs are refused")
    assert told == (200, {"status": "ready", "reason": "new runs are refused"})
    status, said = await ready(Spool(3), "new runs are refused")
    assert (status, said["spooling"]) == (200, 3)
    assert "new runs are refused" in said["reason"]


async def test_without_its_servers_a_service_is_ready_only_with_room_on_its_disk():
    away = outage("the bus is away")
    assert await ready(down=away) == (503, {"status": "not ready", "reason": "the bus is away"})
    assert (await ready(Spool(has_room=False), down=away))[0] == 503
    status, said = await ready(Spool(2), down=away)
    assert (status, said["spooling"], said["reason"]) == (200, 2, "the bus is away")


class Crowded(Servers):
    """Servers that answer once everybody has asked, and count how often they are asked."""

    def __init__(self):
        self.looks = 0
        self.asked = asyncio.Event()

    async def canary(self):
        self.looks += 1
        await self.asked.wait()


async def test_a_flood_of_probes_costs_one_look_for_which_all_wait():
    servers = Crowded()
    transport = httpx.ASGITransport(Starlette(routes=Health(servers, servers).routes()))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        probes = [asyncio.create_task(client.get("/ready")) for _ in range(50)]
        await until(lambda: asyncio.sleep(0, servers.looks), bool)
        assert not any(probe.done() for probe in probes)
        servers.asked.set()
        answers = await asyncio.gather(*probes)
    assert {answer.status_code for answer in answers} == {200}
    assert servers.looks == 1
