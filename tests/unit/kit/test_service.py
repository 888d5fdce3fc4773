"""What a service holds open is there for every message, and is left after the last one."""

import asyncio
import signal
import sys
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from tocsin_kit import service, store
from tocsin_kit.errors import NEVER_STARTS, PermanentError
from tocsin_kit.heartbeat import Vitals
from tocsin_kit.live_settings import Live
from tocsin_kit.service import Service
from tocsin_kit.settings import ServiceSettings


class Settings(ServiceSettings):
    service = "fake"


class Recorder:
    """A bus, its parts and a resource that only note in what order they are used."""

    def __init__(self):
        self.order = []
        self.redis = store.connect("redis://127.0.0.1:1/0")  # nobody is there
        self.bus = SimpleNamespace(
            start=self.noting("bus started"),
            close=self.noting("bus closed"),
            vitals=Vitals(),
            connected=True,
        )
        self.live = Live()
        self.aclose = self.noting("clients closed")

    def noting(self, what):
        async def note():
            self.order.append(what)

        return note

    @asynccontextmanager
    async def resource(self):
        self.order.append("opened")
        yield
        self.order.append("left")


async def run(parts, *resources, background):
    await service.run(Service(Settings(), 0, parts, background=[background], resources=resources))


async def stop():
    signal.raise_signal(signal.SIGTERM)
    await asyncio.Event().wait()


async def test_a_resource_is_opened_before_the_first_message_and_left_after_the_last():
    parts = Recorder()
    await run(parts, parts.resource(), background=stop)
    assert parts.order == ["opened", "bus started", "bus closed", "left", "clients closed"]


async def test_a_service_that_is_stopped_while_it_opens_takes_no_message_and_leaves_what_is_open():
    parts = Recorder()

    @asynccontextmanager
    async def slow():
        await stop()
        yield

    await run(parts, parts.resource(), slow(), background=stop)
    assert parts.order == ["opened", "bus closed", "left", "clients closed"]


def test_wrong_settings_are_said_and_have_an_exit_code_of_their_own(monkeypatch, capsys):
    def build(flags):
        raise PermanentError("settings of fake: port: not a number")

    monkeypatch.setattr(sys, "argv", ["fake"])
    with pytest.raises(SystemExit) as ended:
        service.main(build)
    assert ended.value.code == NEVER_STARTS
    assert capsys.readouterr().err == "tocsin: settings of fake: port: not a number\n"
