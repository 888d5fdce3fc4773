"""A connection is closed that sends no whole request in time, and no other."""

import asyncio
import contextlib
import socket

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tocsin_kit.patience import OneWrite, TimelyProtocol

REQUEST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"


class Impatient(TimelyProtocol):
    header_seconds = 0.1


class Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self):
        yield


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(await request.body())


@pytest.fixture
async def connect():
    app = Starlette(routes=[Route("/", echo, methods=["POST"])])
    config = uvicorn.Config(app, http=Impatient, lifespan="off", log_config=None, ws="none")
    server = Server(config)
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    serving = asyncio.create_task(server.serve([listening]))
    writers = []

    async def connection():
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        writers.append(writer)
        return reader, writer

    yield connection
    for writer in writers:
        writer.close()
    server.should_exit = True
    await serving


async def answer_of(reader):
    async with asyncio.timeout(5):
        head = await reader.readuntil(b"\r\n\r\n")
        return head.split(b"\r\n")[0], await reader.readexactly(2)


async def closed(reader):
    async with asyncio.timeout(5):
        return await reader.read() == b""


@pytest.mark.parametrize("sent", [b"", b"P", REQUEST[:-2]], ids=["nothing", "a byte", "no end"])
async def test_a_head_that_does_not_come_closes_the_connection(connect, sent):
    reader, writer = await connect()
    writer.write(sent)
    assert await closed(reader)


async def test_a_body_may_take_longer_than_a_head(connect):
    reader, writer = await connect()
    writer.write(REQUEST)
    await asyncio.sleep(2 * Impatient.header_seconds)
    writer.write(b"ok")
    assert await answer_of(reader) == (b"HTTP/1.1 200 OK", b"ok")


async def test_a_second_request_has_its_own_time(connect):
    reader, writer = await connect()
    for _ in range(3):
        writer.write(REQUEST + b"ok")
        assert await answer_of(reader) == (b"HTTP/1.1 200 OK", b"ok")
        await asyncio.sleep(Impatient.header_seconds)
    writer.write(REQUEST[:9])
    assert await closed(reader)


class Transport:
    def __init__(self):
        self.seen = []

    def write(self, data):
        self.seen.append(data)

    def close(self):
        self.seen.append("closed")

    def is_closing(self):
        return "closed" in self.seen


async def test_what_is_written_in_one_turn_is_sent_together_and_in_order():
    transport = Transport()
    writing = OneWrite(transport, asyncio.get_running_loop())
    for part in (b"head ", b"body", b""):
        writing.write(part)
    assert transport.seen == []
    await asyncio.sleep(0)
    writing.write(b"more")
    await asyncio.sleep(0)
    assert transport.seen == [b"head body", b"more"]


async def test_what_was_written_is_sent_before_the_connection_closes():
    transport = Transport()
    writing = OneWrite(transport, asyncio.get_running_loop())
    writing.write(b"last")
    assert not writing.is_closing()
    writing.close()
    await asyncio.sleep(0)
    assert transport.seen == [b"last", "closed"]
    assert writing.is_closing()
