"""Whatever is sent to whatever address: it is answered, and never by an error of ours."""

import json
import re

import httpx
import pytest

from tocsin_contracts.toolcalls import DirectCall
from tocsin_gateway.tools import CallWish
from tocsin_testing import gateway_doors
from tocsin_testing.gateway_doors import WEBSOCKET

TOKEN = "the-token-of-admin"
AWAY = 503
HALF = rb"\ud800"
DEEP = b"[" * 300 + b"]" * 300
BODIES = {
    "half a character": b'{"tool":"a.b","args":{"x":"%b"},"%b":1,"text":"%b","reason":"%b"}'
    % (HALF, HALF, HALF, HALF),
    "lists in lists": b'{"tool":"a.b","args":{"x":%b},"plan_hash":%b}' % (DEEP, DEEP),
    "lists without an end": b"[" * 30_000,
    "no text": b'\xff\xfe{"tool":1}',
    "zeros": rb'{"tool":"a.b\u0000","reason":"\u0000","text":"\u0000"}',
    "no numbers": b'{"tool":"a.b","args":{"x":NaN},"useful":NaN,"investigation_seconds":1e999}',
    "a long number": b'{"tool":"a.b","args":{"x":%b},"max_attempts":%b}'
    % (b"9" * 4000, b"9" * 4000),
    "a list": b"[]",
    "nothing": b"",
}
KINDS = [
    "application/json",
    "multipart/form-data",
    "multipart/form-data; boundary=x; charset=nothing",
    "application/x-www-form-urlencoded",
]
PLACES = ["%ED%A0%80", "%00", "%0d%0a", "..%2f..", "%ff", "9" * 25, "9" * 5000]
QUERIES = [
    "limit=%ED%A0%80&state=%00&format=%ff&mode=%ff&days=1e9",
    f"limit={'9' * 5000}&before={'9' * 5000}&days={'9' * 5000}",
    f"before={'9' * 25}",
]


@pytest.fixture(scope="module")
def gateway():
    flags = [f'--api-tokens={{"admin": "{TOKEN}"}}', '--api-roles={"admin": "admin"}']
    return gateway_doors.gateway(flags)


@pytest.fixture(scope="module")
def api(gateway):
    found = gateway_doors.addresses(gateway)[0]
    return [one for one in found if one.method != WEBSOCKET and one.path != "/openapi.json"]


async def answers(gateway, asked):
    """Ask for everything as somebody who may do everything; return what is an error of ours."""
    transport = httpx.ASGITransport(gateway, raise_app_exceptions=False)
    known = {"authorization": f"Bearer {TOKEN}"}
    wrong = []
    async with httpx.AsyncClient(
        transport=transport, base_url="http://tocsin.example", headers=known
    ) as client:
        for method, path, body, kind in asked:
            told = await client.request(method, path, content=body, headers={"content-type": kind})
            if told.status_code >= 500 and told.status_code != AWAY:
                wrong.append((method, path[:60], body[:30], kind, told.status_code))
    return wrong


def at(address, place="7"):
    return re.sub(r"\{[^}]+\}", place, address.path)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
async def test_no_body_is_an_error_of_ours(gateway, api, body):
    asked = [(one.method, at(one), body, kind) for one in api if one.changes for kind in KINDS]
    assert asked
    assert await answers(gateway, asked) == []


async def test_no_address_is_an_error_of_ours(gateway, api):
    places = [
        (one.method, at(one, place), b"{}", KINDS[0])
        for one in api
        if "{" in one.path
        for place in PLACES
    ]
    queries = [
        (one.method, f"{at(one)}?{query}", b"", KINDS[0])
        for one in api
        if not one.changes
        for query in QUERIES
    ]
    assert await answers(gateway, [*places, *queries]) == []


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_arguments_that_are_taken_can_be_sent_on(body):
    try:
        wish = CallWish.model_validate(json.loads(body))
    except (ValueError, RecursionError):
        return
    call = DirectCall(by="ana", tool=wish.name, arguments=wish.args)
    assert DirectCall.model_validate_json(call.model_dump_json()).tool == "a.b"
