"""The door over a real connection: what a client of WebSockets is answered, and why."""

import asyncio
import json
import socket
from contextlib import asynccontextmanager, suppress

import uvicorn
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tocsin_testing import gateway_doors
from tocsin_testing.harness import until

TOKENS = {"viewer": "the-token-of-viewer", "operator": "the-token-of-operator"}


@asynccontextmanager
async def serving():
    http = gateway_doors.gateway(
        [
            f"--api-tokens={json.dumps(TOKENS)}",
            '--api-roles={"operator": "operator"}',
            '--trusted-proxies=["127.0.0.1/32"]',
            '--proxy-roles={"sre": "operator"}',
        ]
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(http, lifespan="off", log_config=None))
        task = asyncio.create_task(server.serve([listening]))
        try:
            await until(lambda: asyncio.sleep(0, server.started), bool)
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            with suppress(asyncio.CancelledError):
                await task


async def asked(host, headers):
    """Return how the handshake is answered: 101, or the status with the reason."""
    try:
        async with connect(f"ws://{host}/api/v1/ws", additional_headers=headers, open_timeout=5):
            return 101, ""
    except InvalidStatus as refused:
        return refused.response.status_code, json.loads(refused.response.body)["error"]


NAMED = {"X-Forwarded-User": "ana", "X-Forwarded-Groups": "sre"}


ANSWERS = [
    ({}, 401, "unknown token"),
    ({"Authorization": "Bearer x"}, 401, "unknown token"),
    ({"Authorization": f"Bearer {TOKENS['viewer']}"}, 403, "this needs the role operator"),
    ({"Authorization": f"Bearer {TOKENS['operator']}"}, 101, ""),
    ({"X-Forwarded-User": "ana"}, 403, "this needs the role operator"),
    (NAMED, 101, ""),
    (NAMED | {"Origin": "http://evil.example"}, 403, "another site"),
]


async def test_p3_a_websocket_is_answered_as_every_other_request_is():
    async with serving() as host:
        for headers, status, said in ANSWERS:
            answer, why = await asked(host, headers)
            assert (headers, answer, said in why) == (headers, status, True)
