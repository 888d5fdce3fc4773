"""A harmless alert on its way through every service, shown step by step, with a verdict."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import TypeVar

from rich.console import Console
from rich.text import Text

from tocsin_cli.alerts import Alarm
from tocsin_cli.client import Gateway, Ingest
from tocsin_cli.errors import UnreachableError
from tocsin_cli.live import POLL_SECONDS
from tocsin_cli.terminal import one_line, show
from tocsin_contracts import AlertStatus, RunState
from tocsin_contracts.views import RunView, TimelineEntry
from tocsin_kit.clock import Clock
from tocsin_kit.errors import PermanentError

STOPPED = (RunState.SUPPRESSED, RunState.SUPERSEDED)
"""Endings in which a rule of the operator kept the alert from being investigated."""

T = TypeVar("T")


@dataclass(slots=True)
class Journey:
    """One test of the whole way, told to whoever looks at the console."""

    ingest: Ingest
    gateway: Gateway
    console: Console
    clock: Clock
    _shown: set[tuple[str, datetime]] = field(default_factory=set)

    async def travel(self, alarm: Alarm, seconds: float) -> str:
        """Send the alert, wait for the end of its run, and return the verdict.

        PermanentError if the alert does not arrive, or its run fails or ends too late.
        """
        run_id = await self._send(alarm)
        view: RunView | None = None
        try:
            async with asyncio.timeout(seconds):
                while view is None or view.finished is None:
                    view = await _answered(lambda: self.gateway.run(run_id))
                    self._tell(view.timeline)
                    await asyncio.sleep(POLL_SECONDS if view.finished is None else 0)
        except TimeoutError:
            raise PermanentError(_stuck(run_id, view, seconds)) from None
        await self.ingest.alertmanager(alarm.notification(AlertStatus.RESOLVED, self.clock.now()))
        return _verdict(view)

    async def _send(self, alarm: Alarm) -> str:
        began = monotonic()
        body = alarm.notification(AlertStatus.FIRING, self.clock.now())
        receipt = await self.ingest.alertmanager(body)
        if not receipt.run_id:
            raise PermanentError(f"ingest took the alert and opened no run: {receipt.status}")
        told = f"… and is stored after {monotonic() - began:.2f} s: run {one_line(receipt.run_id)}"
        show(self.console, told)
        return receipt.run_id

    def _tell(self, timeline: Iterable[TimelineEntry]) -> None:
        entries = list(timeline)
        for before, entry in zip([None, *entries], entries, strict=False):
            step = (entry.topic, entry.at)
            if step not in self._shown and (before is None or before.text != entry.text):
                passed = (entry.at - entries[0].at).total_seconds()
                self._line(passed, entry.producer, entry.text)
            self._shown.add(step)

    def _line(self, seconds: float, who: str, what: str) -> None:
        show(self.console, Text(f"  {seconds:6.2f} s  {one_line(who):<10}  {one_line(what)}"))


async def _answered(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask until somebody answers; the caller bounds it."""
    while True:
        try:
            return await ask()
        except UnreachableError:
            await asyncio.sleep(POLL_SECONDS)


def _stuck(run_id: str, view: RunView | None, seconds: float) -> str:
    if view is None:
        return f"the gateway showed no run {run_id} within {seconds:g} s"
    last = view.timeline[-1]
    return (
        f"run {run_id} did not end within {seconds:g} s: it is {view.state.value}, and "
        f"{last.producer} said last: {one_line(last.text)}"
    )


def _verdict(view: RunView) -> str:
    took = (view.timeline[-1].at - view.timeline[0].at).total_seconds()
    if view.state is RunState.FAILED:
        raise PermanentError(f"run {view.run_id} failed: {one_line(view.ended)}")
    if view.state in STOPPED:
        return f"The alert arrived, and a rule stopped it after {took:.1f} s: {view.ended}"
    services = ", ".join(dict.fromkeys(entry.producer for entry in view.timeline))
    return (
        f"The alert went the whole way in {took:.1f} s, through {services}: "
        f"its run ended as {view.state.value}, and nothing was written."
    )
