"""A model of one's own over HTTP, which says what a test wrote down."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from tocsin_kit.processes import LOOPBACK

USED = {"prompt_tokens": 50, "completion_tokens": 3, "total_tokens": 53}

Call = tuple[str, Mapping[str, Any]]
"""The end of a function's name, and its arguments."""

LEASE = 10
"""Seconds: the first call of the model's library takes some, and an answer is given only once."""


class OwnModel:
    """Speaks OpenAI's protocol: calls functions, and after the last of them it is silent.

    `answers` may get more while it listens; `left` is set once nobody waits for a silent one.
    """

    def __init__(self, *answers: Call) -> None:
        self.answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.left = asyncio.Event()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[dict[str, str]]:
        """Listen; yield the settings with which services ask it."""
        server = await asyncio.start_server(self._serve, LOOPBACK, 0)
        async with server:
            url = f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}/v1"
            yield {
                "TOCSIN_MODEL": "openai/own",
                "TOCSIN_MODEL_URLS": json.dumps({"openai": url}),
                "TOCSIN_MODEL_KEYS": json.dumps({"openai": "key-of-the-tests"}),
                "TOCSIN_LOCAL_MODELS_ONLY": "1",
                "TOCSIN_LEASE_SECONDS": str(LEASE),
            }

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length:")[2].split()[0])
        question = json.loads(await reader.readexactly(length))
        self.asked.append(question)
        if not self.answers:
            await reader.read()
            self.left.set()
            writer.close()
            return
        wanted, arguments = self.answers.pop(0)
        names = [tool["function"]["name"] for tool in question["tools"]]
        name = next(name for name in names if name.endswith(wanted))
        call = {"name": name, "arguments": json.dumps(arguments)}
        said = {"tool_calls": [{"index": 0, "id": name, "type": "function", "function": call}]}
        choices = [{"index": 0, "delta": said, "finish_reason": "tool_calls"}]
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n")
        writer.write(b"connection: close\r\n\r\n" + _chunk(choices) + _chunk([], usage=USED))
        writer.write(b"data: [DONE]\n\n")
        await writer.drain()
        writer.close()
        await writer.wait_closed()


def _chunk(choices: list[dict[str, Any]], **more: Any) -> bytes:
    kind = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "own"}
    return f"data: {json.dumps(kind | {'choices': choices} | more)}\n\n".encode()
