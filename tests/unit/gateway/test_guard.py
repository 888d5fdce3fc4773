"""Strangers and floods end at the door of the API."""

import json

import pytest
from pydantic import SecretStr
from starlette.exceptions import HTTPException

from tocsin_gateway.access import Access
from tocsin_gateway.guard import MAX_BODY, Guard

REQUEST = {"type": "http", "method": "POST", "path": "/api/v1/runs/r1/approve", "headers": []}


class Door:
    """The guard, with an application behind it that reads the whole body."""

    def __init__(self):
        self.read = 0
        self.sent = []
        self.guard = Guard(self.app, Access({"ana": SecretStr("known")}))

    async def app(self, scope, receive, send):
        more = True
        while more:
            message = await receive()
            self.read += len(message.get("body", b""))
            more = message.get("more_body", False)

    async def knock(self, *chunks, bearer="known", headers=()):
        waiting = [
            {"type": "http.request", "body": chunk, "more_body": number < len(chunks)}
            for number, chunk in enumerate(chunks, 1)
        ]
        known = [(b"authorization", f"Bearer {bearer}".encode()), *headers]

        async def receive():
            return waiting.pop(0)

        async def send(message):
            self.sent.append(message)

        await self.guard({**REQUEST, "headers": known}, receive, send)

    @property
    def status(self):
        return self.sent[0]["status"]


async def test_a_strangers_body_is_never_read():
    door = Door()
    await door.knock(b"x" * 10**6, bearer="guessed")
    assert (door.status, door.read) == (401, 0)
    assert "error" in json.loads(door.sent[1]["body"])
    assert (b"connection", b"close") in door.sent[0]["headers"]


async def test_a_body_that_says_it_is_too_big_is_never_read():
    door = Door()
    await door.knock(b"x", headers=[(b"content-length", str(MAX_BODY + 1).encode())])
    assert (door.status, door.read) == (413, 0)


async def test_an_endless_body_is_cut_off():
    door = Door()
    with pytest.raises(HTTPException, match="the body is over"):
        await door.knock(*[b"x" * MAX_BODY] * 3)
    assert door.read == MAX_BODY


async def test_a_decision_passes():
    door = Door()
    await door.knock(b'{"plan_hash":', b'"x"}')
    assert (door.sent, door.read) == ([], 17)
