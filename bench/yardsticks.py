"""What ingest is measured against: a bare app that only stores, and FastAPI that does nothing.

Run by `bench/ingest.py` as a process of its own: `python bench/yardsticks.py floor <port> <url>`.
"""

import asyncio
import sys

import nats
import uvicorn
from fastapi import FastAPI, Request
from nats.js import JetStreamContext
from starlette.types import Receive, Scope, Send

SUBJECT = "tocsin.bench.raw.x"


class Floor:
    """Publish the raw bytes, await the acknowledgement, answer 202."""

    def __init__(self, js: JetStreamContext) -> None:
        self._js = js

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        await self._js.publish(SUBJECT, body)
        headers = [(b"content-type", b"application/json"), (b"content-length", b"2")]
        await send({"type": "http.response.start", "status": 202, "headers": headers})
        await send({"type": "http.response.body", "body": b"{}"})


def no_op() -> FastAPI:
    """Parse the body and answer 202."""
    app = FastAPI()

    @app.post("/", status_code=202)
    async def take(request: Request) -> dict[str, str]:
        await request.json()
        return {"status": "accepted"}

    return app


async def main(which: str, port: str, nats_url: str) -> None:
    client = await nats.connect(nats_url)
    app = Floor(client.jetstream()) if which == "floor" else no_op()
    config = uvicorn.Config(app, port=int(port), log_config=None, access_log=False, lifespan="off")
    await uvicorn.Server(config).serve()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
