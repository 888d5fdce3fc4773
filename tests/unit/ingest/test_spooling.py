"""While the servers are away alerts wait on disk; what waits goes first, and in order."""

import pytest

from tocsin_ingest.receiver import Receiver
from tocsin_ingest.spooling import Spooling
from tocsin_kit.errors import FullError, PermanentError, TransientError
from tocsin_kit.intake import Outcome
from tocsin_kit.spool import Spool
from tocsin_testing import build
from tocsin_testing.fakes import FakeIntake, FakeRuns, outage


class World:
    """A receiver with fakes behind it, and a spool in front."""

    def __init__(self, folder, most_records=1000):
        self.intake = FakeIntake()
        self.spool = Spool(folder, most_bytes=10**8, most_records=most_records)
        self.bus_is_away = False
        self.promised = FakeIntake()
        self.spooling = Spooling(Receiver(self.intake, FakeRuns()), self.spool, self._probe)

    def with_a_bound(self):
        """Open runs only while there is room, except for what was promised."""
        self.spooling = Spooling(
            Receiver(self.intake, FakeRuns()),
            self.spool,
            self._probe,
            promised=Receiver(self.promised, FakeRuns()),
            has_room=lambda: self.intake.may_open,
        )
        return self

    async def take(self, *names):
        alerts = [build.alert(fingerprint=name) for name in names]
        return [one.outcome for one in await self.spooling.take_all(alerts)]

    async def _probe(self):
        if self.bus_is_away:
            raise outage()

    @property
    def admitted(self):
        return [alert.fingerprint for _, alert in self.intake.admitted]


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


async def test_with_the_servers_there_nothing_touches_the_disk(world, tmp_path):
    assert await world.take("a") == [Outcome.OPENED]
    assert list(tmp_path.iterdir()) == []


async def test_in_an_outage_alerts_wait_on_disk_and_go_on_in_order(world):
    world.intake.down = outage()
    assert await world.take("a", "b") == [Outcome.SPOOLED] * 2
    world.intake.down = None
    assert await world.take("c") == [Outcome.SPOOLED]  # nothing overtakes what waits
    assert world.admitted == []
    assert await world.spooling.drain() == 3
    assert world.admitted == ["a", "b", "c"]
    assert await world.take("d") == [Outcome.ATTACHED]


async def test_what_waits_survives_the_process(world, tmp_path):
    world.intake.down = outage()
    await world.take("a", "b")
    again = World(tmp_path)
    assert await again.spooling.drain() == 2
    assert again.admitted == ["a", "b"]


async def test_a_drain_that_meets_an_outage_loses_nothing(world):
    world.intake.down = outage()
    await world.take("a")
    with pytest.raises(TransientError):
        await world.spooling.drain()
    assert world.spool.waiting == 1


async def test_what_waits_stays_on_disk_until_the_bus_is_there_too(world):
    world.intake.down = outage()
    await world.take("a")
    world.intake.down, world.bus_is_away = None, True
    with pytest.raises(TransientError):
        await world.spooling.drain()
    assert world.admitted == []


async def test_a_full_spool_takes_nothing(tmp_path):
    world = World(tmp_path, most_records=1)
    world.intake.down = outage()
    await world.take("a")
    with pytest.raises(TransientError, match="full"):
        await world.take("b")


async def test_a_new_run_that_has_no_room_on_the_bus_does_not_wait_on_disk(world):
    world.with_a_bound().intake.may_open = False
    with pytest.raises(FullError):
        await world.take("a")
    assert world.spool.waiting == 0


async def test_while_the_bus_has_no_room_an_outage_puts_nothing_on_the_disk(world):
    world.with_a_bound().intake.may_open = False
    world.intake.down = outage()
    with pytest.raises(FullError):
        await world.take("a")
    assert world.spool.waiting == 0


async def test_what_was_promised_is_handed_on_though_there_is_no_room_for_new_runs(world):
    world.with_a_bound().intake.down = outage()
    assert await world.take("a") == [Outcome.SPOOLED]
    world.intake.down, world.intake.may_open = None, False
    with pytest.raises(FullError):
        await world.take("b")  # it would overtake what waits
    assert await world.spooling.drain() == 1
    assert [alert.fingerprint for _, alert in world.promised.admitted] == ["a"]


async def test_one_alert_that_can_never_be_stored_holds_back_no_other(world):
    world.intake.down = outage()
    await world.take("a", "bad", "b")
    world.intake.down = None
    admit = world.intake.admit

    async def picky(incident_key, alert):
        if alert.fingerprint == "bad":
            raise PermanentError("too many bytes")
        return await admit(incident_key, alert)

    world.intake.admit = picky
    await world.spooling.drain()
    assert set(world.admitted) == {"a", "b"}
    assert world.spool.waiting == 0


async def test_a_record_that_is_no_alert_holds_back_no_other(world):
    await world.spool.append([b"no alert", build.alert(fingerprint="a").model_dump_json().encode()])
    await world.spooling.drain()
    assert world.admitted == ["a"]
