"""What operators use of the API, put together from the parts of the gateway."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter

from tocsin_gateway import deadletters, operations, reports
from tocsin_gateway.api import Api
from tocsin_gateway.deadletters import DeadLetters
from tocsin_gateway.operations import Operations
from tocsin_gateway.settings import Settings
from tocsin_kit import intake
from tocsin_kit.audit import Auditor, Chain
from tocsin_kit.audit_chain import Key
from tocsin_kit.feed import Feed
from tocsin_kit.gauges import Gauges
from tocsin_kit.outbox import Outbox
from tocsin_kit.parked import Parked
from tocsin_kit.parts import Parts
from tocsin_kit.reruns import Reruns
from tocsin_kit.run_records import RunRecords
from tocsin_kit.status import Status


def operations_of(settings: Settings, parts: Parts) -> Operations:
    """Return what begins runs anew and takes them over."""
    outbox = Outbox(parts.redis, intake.OWNER, intake.read, parts.bus.publish)
    receiver = intake.Intake(parts.redis, outbox, ttl_days=settings.run_ttl_days)
    records = RunRecords(parts.redis, settings.run_ttl_days)
    reruns = Reruns(receiver, records, parts.bus.publish)
    return Operations(parts.reader, reruns, parts.bus)


def letters_of(settings: Settings, parts: Parts) -> Parked:
    """Return what shows dead letters and gives them again."""
    return Parked.of(
        parts.bus, parts.redis, producer=settings.service, ttl_days=settings.run_ttl_days
    )


def upkeep(
    settings: Settings, parts: Parts, outbox: Outbox, statuses: Status
) -> tuple[Callable[[], Awaitable[None]], ...]:
    """Return what goes on beside requests: the audit, figures, and what was not told yet.

    PermanentError where the key of the audit cannot be used.
    """
    chain = Chain(parts.redis, Key.read(settings.audit_key_file))
    return (
        Auditor(chain, Feed.of(parts.bus)).run,
        Gauges(statuses.look, parts.reader.standing).run,
        lambda: outbox.keep_flushing(settings.republish_seconds),
    )


def areas(api: Api, letters: Parked, operators: Operations) -> tuple[APIRouter, ...]:
    """Return the routes of dead letters, of runs that are begun anew or taken over, of reports."""
    return (
        deadletters.routes(DeadLetters(letters)),
        operations.routes(operators),
        reports.routes(api),
    )
