"""`/api/v1/agents` and `/api/v1/tools`: rca answers, and never a sentence goes to a model."""

from collections.abc import Mapping
from typing import Annotated, Any, Protocol, TypeVar

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from tocsin_contracts.chat import ChatMode
from tocsin_contracts.roles import Role
from tocsin_contracts.toolcalls import (
    CALL_SECONDS,
    AgentsAsked,
    AgentsView,
    DirectAnswer,
    DirectCall,
    ToolCallsPage,
    ToolCallView,
    ToolsAsked,
    ToolsView,
)
from tocsin_gateway.access import Principal, needs
from tocsin_gateway.refusals import RefusedError

LIST_SECONDS = 15.0
_JSON: TypeAdapter[Any] = TypeAdapter(Any)
A = TypeVar("A", bound=BaseModel)

Viewer = Annotated[Principal, Depends(needs(Role.VIEWER))]
Operator = Annotated[Principal, Depends(needs(Role.OPERATOR))]


class Ask(Protocol):
    """Asks another service."""

    async def __call__(
        self, subject: str, question: BaseModel, shape: type[A], seconds: float
    ) -> A | None:
        """Return the answer; None if there is none in time."""


class Calls(Protocol):
    """Knows who used which tool."""

    async def recent(self, limit: int) -> tuple[ToolCallView, ...]:
        """Return the newest calls first."""


class CallWish(BaseModel):
    """One call of a tool: `server` and `tool`, or a `tool` that is called `server.tool`."""

    model_config = ConfigDict(extra="forbid")

    server: str = Field(default="", pattern=r"^[a-z0-9_-]{0,63}$")
    tool: str = Field(pattern=r"^[a-z0-9_.-]{1,64}$")
    args: Mapping[str, Any] = Field(default={}, description="As the tool's schema wants them.")
    mode: ChatMode = ChatMode.ASK

    @field_validator("args")
    @classmethod
    def _can_be_sent(cls, args: Mapping[str, Any]) -> Mapping[str, Any]:
        _JSON.dump_json(args)
        return args

    @property
    def name(self) -> str:
        """The name that the tool is listed by."""
        return f"{self.server}.{self.tool}" if self.server else self.tool


def routes(ask: Ask, calls: Calls) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/api/v1")
    size = Annotated[int, Query(ge=1, le=500)]

    async def answered(question: BaseModel, subject: str, shape: type[A], seconds: float) -> A:
        answer = await ask(subject, question, shape, seconds)
        if answer is None:
            why = f"rca gave no answer within {seconds:g} seconds"
            raise RefusedError(503, why, "/api/v1/status says whether it runs")
        return answer

    @router.get("/agents")
    async def agents(by: Viewer) -> AgentsView:
        asked = AgentsAsked(by=by.id)
        return await answered(asked, asked.subject, AgentsView, LIST_SECONDS)

    @router.get("/tools")
    async def tools(by: Viewer, mode: ChatMode = ChatMode.ASK) -> ToolsView:
        _may(by, mode)
        asked = ToolsAsked(by=by.id, mode=mode)
        return await answered(asked, asked.subject, ToolsView, LIST_SECONDS)

    @router.get("/tools/calls")
    async def history(by: Operator, limit: size = 50) -> ToolCallsPage:
        del by
        return ToolCallsPage(calls=await calls.recent(limit))

    @router.post("/tools/call")
    async def call(wish: CallWish, by: Operator) -> DirectAnswer:
        _may(by, wish.mode)
        asked = DirectCall(by=by.id, mode=wish.mode, tool=wish.name, arguments=wish.args)
        return await answered(asked, asked.subject, DirectAnswer, CALL_SECONDS)

    return router


def _may(by: Principal, mode: ChatMode) -> None:
    """Raise RefusedError unless somebody may use a mode: what proposes is for approvers."""
    if mode is ChatMode.AGENT and not by.role.includes(Role.APPROVER):
        raise RefusedError(
            403,
            f"the mode agent needs the role approver; yours is {by.role.value}",
            "the mode ask only looks",
        )
