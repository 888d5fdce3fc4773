"""The areas of the API beside runs, put together from the parts of the gateway."""

from typing import TypeVar

from fastapi import APIRouter
from pydantic import BaseModel

from tocsin_gateway import config, status, tools
from tocsin_gateway.chat import wiring
from tocsin_gateway.config import Config
from tocsin_gateway.outcomes import routes as outcomes
from tocsin_gateway.outcomes.handlers import OutcomeHandlers
from tocsin_gateway.outcomes.routes import Outcomes
from tocsin_gateway.status import Statuses
from tocsin_kit import asking
from tocsin_kit.clock import SystemClock
from tocsin_kit.live_settings import LiveStore
from tocsin_kit.outcomes import OutcomeRecords
from tocsin_kit.parts import Parts
from tocsin_kit.tool_calls import ToolCalls

A = TypeVar("A", bound=BaseModel)


def outcomes_of(parts: Parts) -> Outcomes:
    """Return what knows the outcomes of runs, of which it hears from now on."""
    records = OutcomeRecords(parts.redis)
    OutcomeHandlers(parts.reader, records).listen(parts.bus)
    return Outcomes(records, parts.reader, parts.bus, SystemClock())


def areas(parts: Parts, statuses: Statuses, judged: Outcomes) -> tuple[APIRouter, ...]:
    """Return the routes of every area."""

    async def ask(subject: str, question: BaseModel, shape: type[A], seconds: float) -> A | None:
        return await asking.ask(parts.bus, subject, question, shape, seconds)

    return (
        config.routes(Config(LiveStore(parts.redis), parts.bus, SystemClock())),
        outcomes.routes(judged),
        status.routes(statuses),
        tools.routes(ask, ToolCalls(parts.redis)),
        wiring.wired(parts),
    )
