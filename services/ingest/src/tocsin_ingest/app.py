"""Composition root: what every role of ingest shares, and which part each role adds."""

import gc
import importlib
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from tocsin_ingest.receiver import Receiver
from tocsin_ingest.settings import Settings
from tocsin_kit import intake
from tocsin_kit.outbox import Outbox
from tocsin_kit.parts import Parts
from tocsin_kit.service import Service

RECEIVING = "tocsin_ingest.roles.receiving"
TRIAGING = "tocsin_ingest.roles.triaging"

GARBAGE = 50_000
"""New objects between two searches for cycles; hardly any request leaves one."""


def build(flags: Sequence[str] = ()) -> Service:
    """Wire ingest from its settings; a role's part, and what it needs, is imported only for it."""
    settings = Settings.load(flags)
    parts = Parts.of(settings, moves_runs=True)
    outbox = Outbox(parts.redis, intake.OWNER, intake.read, parts.bus.publish)

    def receiver(may_open: Callable[[], bool]) -> Receiver:
        records = intake.Intake(
            parts.redis,
            outbox,
            ttl_days=settings.run_ttl_days,
            repeat_seconds=settings.repeat_seconds,
            may_open=may_open,
        )
        return Receiver(records, parts.runs)

    http, spool, notice = None, None, None
    resources = list[AbstractAsyncContextManager[Any]]()
    background = [lambda: outbox.keep_flushing(settings.republish_seconds)]

    if settings.role.triages:
        triaging = importlib.import_module(TRIAGING)
        triaging.subscribe(settings, parts, receiver(lambda: True))
        resources.append(triaging.freezes(settings, parts.bus))
    if settings.role.receives:
        part = importlib.import_module(RECEIVING).wire(settings, parts, receiver)
        http, spool, notice = part.http, part.spool, part.notice
        background.extend(part.background)
    gc.freeze()  # what lives as long as the process is not worth searching for garbage
    gc.set_threshold(GARBAGE)
    return Service(
        settings=settings,
        port=settings.ingest_port,
        parts=parts,
        http=http,
        background=background,
        resources=resources,
        fallback=spool,
        notice=notice,
    )
