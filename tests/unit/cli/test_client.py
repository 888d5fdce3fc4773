"""Whatever a server answers becomes a value or an error that says what to do."""

from pathlib import Path

import httpx
import pytest

from tocsin_cli.client import Gateway, Ingest
from tocsin_cli.errors import RefusedError, UnreachableError
from tocsin_cli.settings import Access
from tocsin_contracts import RunState
from tocsin_kit.errors import PermanentError

ACCESS = Access("http://gateway.test", "t0k3n")
RUN = Path(__file__).with_name("sample.run.json").read_bytes()


def answering(status: int = 200, content: bytes = b"", seen: list[httpx.Request] | None = None):
    def answer(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        return httpx.Response(status, content=content)

    return httpx.MockTransport(answer)


async def test_a_run_is_read_with_the_token():
    seen = []
    async with Gateway(ACCESS, answering(content=RUN, seen=seen)) as gateway:
        view = await gateway.run("r7f3")
    assert view.plan.short_hash == "abcdef012345"
    assert seen[0].url.path == "/api/v1/runs/r7f3"
    assert seen[0].headers["authorization"] == "Bearer t0k3n"


async def test_runs_can_be_asked_for_by_state():
    seen = []
    async with Gateway(ACCESS, answering(content=b'{"runs": []}', seen=seen)) as gateway:
        assert await gateway.runs(RunState.PR_OPEN, limit=7) == ()
    assert dict(seen[0].url.params) == {"state": "pr_open", "limit": "7"}


async def test_a_decision_carries_the_whole_hash_and_the_reason():
    seen = []
    body = b'{"run_id":"r7f3","decision":"denied","by":"local","at":"2026-11-27T09:00:00Z"}'
    async with Gateway(ACCESS, answering(content=body, seen=seen)) as gateway:
        taken = await gateway.reject("r7f3", "ab" * 32, "not now")
    assert taken.by == "local"
    assert seen[0].url.path == "/api/v1/runs/r7f3/reject"
    assert b'"plan_hash":"abab' in seen[0].content
    assert b'"reason":"not now"' in seen[0].content


async def test_a_payload_is_delivered_byte_for_byte():
    seen = []
    body = b'{"status":"accepted","alerts":[{"fingerprint":"f","status":"opened","run_id":"r"}]}'
    async with Ingest(ACCESS, answering(202, body, seen)) as ingest:
        receipt = await ingest.alertmanager(b'{ "as": "it \\u0026 is" }')
    assert receipt.alerts[0].run_id == "r"
    assert seen[0].content == b'{ "as": "it \\u0026 is" }'


@pytest.mark.parametrize(
    ("status", "content", "error", "message"),
    [
        (409, b'{"error":"already granted","hint":"by ann"}', RefusedError, "already granted; by"),
        (401, b"", RefusedError, "401 Unauthorized"),
        (404, b'{"error":"no run"}', PermanentError, "no run"),
        (500, b"<html>", PermanentError, "500 Internal Server Error"),
        (200, b"{}", PermanentError, "no RunView"),
    ],
)
async def test_an_error_says_what_the_server_said(status, content, error, message):
    async with Gateway(ACCESS, answering(status, content)) as gateway:
        with pytest.raises(error, match=message):
            await gateway.run("r7f3")


async def test_a_server_that_is_away_is_named():
    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    async with Gateway(ACCESS, httpx.MockTransport(away)) as gateway:
        with pytest.raises(UnreachableError, match=r"gateway\.test"):
            await gateway.run("r7f3")
