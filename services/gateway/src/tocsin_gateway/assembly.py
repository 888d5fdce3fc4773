"""The areas of the API beside runs, put together from the parts of the gateway."""

from typing import TypeVar

from fastapi import APIRouter
from pydantic import BaseModel

from tocsin_gateway import status, tools
from tocsin_gateway.chat import wiring
from tocsin_gateway.status import Statuses
from tocsin_kit import asking
from tocsin_kit.parts import Parts
from tocsin_kit.tool_calls import ToolCalls

A = TypeVar("A", bound=BaseModel)


def areas(parts: Parts, statuses: Statuses) -> tuple[APIRouter, ...]:
    """Return the routes of every area."""

    async def ask(subject: str, question: BaseModel, shape: type[A], seconds: float) -> A | None:
        return await asking.ask(parts.bus, subject, question, shape, seconds)

    return (
        status.routes(statuses),
        tools.routes(ask, ToolCalls(parts.redis)),
        wiring.wired(parts),
    )
