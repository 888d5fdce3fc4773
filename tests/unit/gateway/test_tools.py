"""Agents and tools over HTTP: who may ask for what, and what is answered where nobody is."""

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from tocsin_contracts.chat import ChatMode
from tocsin_contracts.roles import Role
from tocsin_contracts.toolcalls import (
    AgentsView,
    CallStatus,
    DirectAnswer,
    ToolCallView,
    ToolsView,
)
from tocsin_gateway import refusals, tools
from tocsin_gateway.access import Access
from tocsin_gateway.guard import Guard
from tocsin_testing.build import NOW

ANSWERS = {
    AgentsView: AgentsView(agents=()),
    ToolsView: ToolsView(mode=ChatMode.ASK, tools=()),
    DirectAnswer: DirectAnswer(status=CallStatus.OK, data={"n": 1}),
}
CALL = ToolCallView(
    at=NOW, by="ana", mode=ChatMode.ASK, tool="k8s.get", arguments={}, status=CallStatus.OK, ms=3
)


class Gateway:
    """The routes, with an rca that a test can take away."""

    def __init__(self):
        self.asked = []
        self.there = True
        tokens = {role.value: SecretStr(f"token-of-{role}") for role in Role}
        app = FastAPI()
        app.include_router(tools.routes(self.ask, self))
        app.add_middleware(Guard, access=Access(tokens, {role.value: role for role in Role}))
        for error, answer in refusals.ANSWERS.items():
            app.add_exception_handler(error, answer)
        self._transport = httpx.ASGITransport(app)

    async def ask(self, subject, question, shape, seconds):
        self.asked.append((subject, question, seconds))
        return ANSWERS[shape] if self.there else None

    async def recent(self, limit):
        return (CALL,) * min(limit, 2)

    async def __call__(self, method, path, role=Role.OPERATOR, **body):
        headers = {"authorization": f"Bearer token-of-{role}"}
        async with httpx.AsyncClient(transport=self._transport, base_url="http://test") as client:
            return await client.request(
                method, f"/api/v1/{path}", headers=headers, json=body or None
            )


@pytest.fixture
def gateway():
    return Gateway()


async def test_a_call_is_typed_and_made_for_whoever_asks(gateway):
    answer = await gateway("POST", "tools/call", server="k8s", tool="get", args={"kind": "Pod"})
    assert answer.json() == {"status": "ok", "data": {"n": 1}, "error": "", "message": ""}
    ((subject, question, seconds),) = gateway.asked
    assert (subject, question.by, question.tool) == ("tocsin-ask.rca.call", "operator", "k8s.get")
    assert (question.arguments, question.mode, seconds) == ({"kind": "Pod"}, ChatMode.ASK, 60)


async def test_a_tool_may_be_named_with_its_server(gateway):
    await gateway("POST", "tools/call", tool="k8s.get")
    assert gateway.asked[0][1].tool == "k8s.get"


@pytest.mark.parametrize(
    "wish",
    [{"tool": "x", "by": "admin"}, {"question": "how is it?"}, {"tool": "k8s get"}, {"tool": ""}],
    ids=str,
)
async def test_what_is_no_call_is_refused_before_anybody_is_asked(gateway, wish):
    assert (await gateway("POST", "tools/call", **wish)).status_code == 422
    assert gateway.asked == []


@pytest.mark.parametrize(
    ("role", "status"), [(Role.VIEWER, 403), (Role.OPERATOR, 403), (Role.APPROVER, 200)]
)
async def test_the_mode_that_may_propose_is_for_approvers(gateway, role, status):
    assert (await gateway("GET", "tools?mode=agent", role)).status_code == status
    call = await gateway("POST", "tools/call", role, tool="k8s.get", mode="agent")
    assert call.status_code == status
    assert len(gateway.asked) == (2 if status == 200 else 0)


async def test_viewers_see_agents_and_tools_and_use_none(gateway):
    seen = [(await gateway("GET", path, Role.VIEWER)).status_code for path in ("agents", "tools")]
    assert seen == [200, 200]
    refused = await gateway("POST", "tools/call", Role.VIEWER, tool="k8s.get")
    assert refused.status_code == 403


async def test_without_rca_the_answer_says_that_it_is_away(gateway):
    gateway.there = False
    answer = await gateway("GET", "agents")
    assert answer.status_code == 503
    assert "rca gave no answer within 15 seconds" in answer.json()["error"]


async def test_the_newest_calls_are_listed(gateway):
    (call,) = (await gateway("GET", "tools/calls?limit=1")).json()["calls"]
    assert (call["by"], call["tool"], call["status"], call["ms"]) == ("ana", "k8s.get", "ok", 3)
