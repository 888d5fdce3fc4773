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


def areas(parts: Parts, statuses: Statuses) -> tuple[APIRouter, ...]:
    """Return the routes of every area; what they know of outcomes they hear from now on."""

    async def ask(subject: str, question: BaseModel, shape: type[A], seconds: float) -> A | None:
        return await asking.ask(parts.bus, subject, question, shape, seconds)

    records = OutcomeRecords(parts.redis)
    OutcomeHandlers(parts.reader, records).listen(parts.bus)
    return (
        config.routes(Config(LiveStore(parts.redis), parts.bus, SystemClock())),
        outcomes.routes(Outcomes(records, parts.reader, parts.bus, SystemClock())),
        status.routes(statuses),
        tools.routes(ask, ToolCalls(parts.redis)),
        wiring.wired(parts),
    )
