"""The fake Slack on loopback: for whichever client, with the real HTTP and the real socket."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from aiohttp import WSMsgType, web

from tocsin_kit.processes import LOOPBACK
from tocsin_testing.harness import until
from tocsin_testing.slack.world import APP_TOKEN, TOKEN, Fault, World


@dataclass
class SlackServer:
    """Where the fake is reached; `acks` holds the answers to what went out over the socket."""

    world: World
    url: str = ""
    sockets: list[web.WebSocketResponse] = field(default_factory=list)
    acks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def api_url(self) -> str:
        """The address of the Web API."""
        return f"{self.url}/api/"

    @property
    def response_url(self) -> str:
        """An address that answers to a click may go to."""
        return f"{self.url}/actions/T0001/1/abc"

    async def send(
        self, payload: dict[str, Any], envelope: str = "e1", kind: str = "interactive"
    ) -> dict[str, Any]:
        """Send an interaction, or an event, over the socket and return its acknowledgement."""
        await until(self._open, bool)
        told = {"envelope_id": envelope, "type": kind, "payload": payload}
        await self.sockets[-1].send_json({**told, "accepts_response_payload": True})

        async def acked() -> list[dict[str, Any]]:
            return [ack for ack in self.acks if ack["envelope_id"] == envelope]

        return (await until(acked, bool))[-1]

    async def _open(self) -> bool:
        return any(not socket.closed for socket in self.sockets[-1:])

    async def _api(self, request: web.Request) -> web.StreamResponse:
        method = request.match_info["method"]
        body = dict(request.query)
        if request.content_type == "application/json":
            body |= await request.json()
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in (TOKEN, APP_TOKEN):
            return web.json_response({"ok": False, "error": "invalid_auth"})
        faults = self.world.faults[method]
        fault = faults.pop(0) if faults else Fault()
        if fault.error or fault.status != HTTPStatus.OK:
            self.world.calls.append((method, body))
            headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            answer = {"ok": False, "error": fault.error}
            return web.json_response(answer, status=fault.status, headers=headers)
        if method == "apps.connections.open":
            return web.json_response({"ok": True, "url": f"ws{self.url[4:]}/socket"})
        answer = self.world.answer(method, body)
        await self.world.told()
        if fault.lost and request.transport:
            request.transport.close()
        return web.json_response(answer, headers={"X-OAuth-Scopes": self.world.scopes})

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        self.world.whispers.append(await request.json())
        await self.world.told()
        return web.Response(text="ok")

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.sockets.append(socket)
        await socket.send_json({"type": "hello", "num_connections": 1})
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                self.acks.append(json.loads(message.data))
        return socket


@asynccontextmanager
async def serving(world: World | None = None) -> AsyncIterator[SlackServer]:
    """Serve on loopback."""
    slack = SlackServer(world or World())
    app = web.Application()
    app.router.add_route("*", "/api/{method}", slack._api)
    app.router.add_post("/actions/{path:.*}", slack._respond)
    app.router.add_get("/socket", slack._socket)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, LOOPBACK, 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        slack.url = f"http://{host}:{port}"
        yield slack
    finally:
        for socket in slack.sockets:
            await socket.close()
        await runner.cleanup()
