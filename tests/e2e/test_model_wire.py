"""The real library against a server that speaks OpenAI's protocol, well and badly."""

import asyncio
import json
import subprocess
import sys
import time
from contextlib import asynccontextmanager, suppress
from decimal import Decimal

import pytest
import pytest_asyncio
from pydantic import SecretStr

from tocsin_agents.messages import Message, Role
from tocsin_agents.models import litellm_client
from tocsin_agents.models.access import Access, Patience
from tocsin_agents.models.litellm_client import LiteLlm
from tocsin_agents.models.port import (
    Answer,
    ModelAwayError,
    ModelRefusedError,
    OfferedTool,
    Question,
    Usage,
)
from tocsin_agents.models.prices import Price
from tocsin_agents.models.retrying import Pauses, Retrying
from tocsin_kit.processes import LOOPBACK

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("ignore:Accessing the:DeprecationWarning"),  # by the library
]

KEY = "canary-0123456789"
PATIENT = Patience(30, 30)
GET = OfferedTool(
    name="k8s.get",
    description="Look at an object.",
    parameters={"type": "object", "properties": {"name": {"type": "string"}}},
)
SYSTEM = Message(role=Role.SYSTEM, text="rules", stable=True)
QUESTION = Question(messages=(SYSTEM, Message(role=Role.USER, text="why?")), most_tokens=99)
USED = {
    "prompt_tokens": 50,
    "completion_tokens": 3,
    "total_tokens": 53,
    "prompt_tokens_details": {"cached_tokens": 40},
}


def event(data):
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def delta(finish=None, **said):
    return event(
        {
            "id": "x",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": said, "finish_reason": finish}],
        }
    )


def called(place, **call):
    return {"tool_calls": [{"index": place, "type": "function", **call}]}


USAGE = event(
    {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [],
        "usage": USED,
    }
)
END = USAGE + event("[DONE]")
STREAM = ("200 OK", "text/event-stream", {})


def stream(*pieces):
    """An answer in pieces; between two of them it may wait for an event."""
    return [STREAM, *pieces]


def refusal(status, message, **headers):
    return [(status, "application/json", headers), json.dumps({"error": message}).encode()]


class Server:
    """Answers in the order of its script, and keeps what it was asked."""

    def __init__(self):
        self.script = []
        self.asked = []
        self.reached = asyncio.Event()
        self.lost = asyncio.Event()
        self.url = ""

    @asynccontextmanager
    async def listening(self):
        server = await asyncio.start_server(self._serve, LOOPBACK, 0)
        self.url = f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}/v1"
        async with server:
            yield self

    async def _serve(self, reader, writer):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length:")[2].split()[0])
            self.asked.append((head, json.loads(await reader.readexactly(length))))
            self.reached.set()
            (status, kind, headers), *pieces = self.script.pop(0)
            lines = {"content-type": kind, "connection": "close", **headers}
            text = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
            writer.write(f"HTTP/1.1 {status}\r\n{text}\r\n".encode())
            for piece in pieces:
                await self._say(piece, reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _say(self, piece, reader, writer):
        if isinstance(piece, bytes):
            writer.write(piece)
            await writer.drain()
            return
        gone = asyncio.ensure_future(reader.read(1))
        opened = asyncio.ensure_future(piece.wait())
        await asyncio.wait([gone, opened], return_when=asyncio.FIRST_COMPLETED)
        if gone.done():
            self.lost.set()
        for waiting in (gone, opened):
            waiting.cancel()


@pytest_asyncio.fixture(loop_scope="module")
async def server():
    async with Server().listening() as one:
        yield one


def model(server, patience=PATIENT, name="openai/m", price=None):
    return LiteLlm(name, Access(SecretStr(KEY), server.url), patience, price)


async def happened(event):
    async with asyncio.timeout(10):
        await event.wait()


async def asked(server, answer, question=QUESTION, **more):
    server.script = [answer]
    return await model(server, **more).answer(question)


async def test_an_answer_comes_whole_with_what_it_used(server):
    pieces = [delta(role="assistant", content="be"), delta(content="cause"), delta("stop"), END]
    answer = await asked(server, stream(*pieces))
    usage = Usage(input_tokens=50, cached_tokens=40, output_tokens=3, cost=None)
    assert answer == Answer(model="openai/m", text="because", usage=usage)
    head, body = server.asked[0]
    assert f"authorization: bearer {KEY}" in head
    assert body["messages"] == [
        {"role": "system", "content": "rules"},
        {"role": "user", "content": "why?"},
    ]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("m", 99, 0)


async def test_a_model_that_takes_no_temperature_is_sent_none(server):
    answer = await asked(server, stream(delta("stop", content="x"), END), name="openai/gpt-5-mini")
    body = server.asked[0][1]
    assert answer.text == "x"
    assert "temperature" not in body
    assert body.get("max_completion_tokens", body.get("max_tokens")) == 99


async def test_a_price_of_ones_own_prices_a_server_of_ones_own(server):
    price = Price(input=Decimal(100), cached=Decimal(10), output=Decimal(1000))
    answer = await asked(server, stream(delta("stop", content="x"), END), price=price)
    assert answer.usage.cost == Decimal("0.0044")


async def test_the_price_is_known_before_a_model_is_asked_or_it_is_unknown(server):
    own = Price(input=Decimal(100), output=Decimal(1000))
    assert await model(server, price=own).price() == own
    assert await model(server).price() is None
    assert (await LiteLlm("openai/gpt-5-mini", Access(), PATIENT).price()).input > 0
    assert await LiteLlm("openai/nobody-sells-it", Access(), PATIENT).price() is None


async def test_text_is_told_before_the_answer_is_whole(server):
    told, rest = [], asyncio.Event()

    async def listen(piece):
        told.append(piece)
        if piece:
            rest.set()

    server.script = [
        stream(
            delta(reasoning_content="hm"),
            delta(content="first "),
            rest,
            delta("length", content="then"),
            END,
        )
    ]
    answer = await model(server).answer(QUESTION, listen)
    assert told[0] == ""
    assert [piece for piece in told if piece] == ["first ", "then"]
    assert (answer.text, answer.thought, answer.cut_off) == ("first then", "hm", True)


async def test_tools_go_out_and_calls_come_back_by_our_names(server):
    question = QUESTION.model_copy(update={"tools": (GET,)})
    answer = await asked(
        server,
        stream(
            delta(**called(0, id="c1", function={"name": "k8s__get", "arguments": ""})),
            delta(**called(0, function={"arguments": '{"name": '})),
            delta(**called(1, id="c2", function={"name": "k8s__get", "arguments": "{}"})),
            delta(**called(0, function={"arguments": '"api"}'})),
            delta("tool_calls"),
            END,
        ),
        question,
    )
    assert [(call.id, call.name, call.arguments) for call in answer.calls] == [
        ("c1", "k8s.get", '{"name": "api"}'),
        ("c2", "k8s.get", "{}"),
    ]
    body = server.asked[0][1]
    assert "tool_choice" not in body
    assert body["tools"][0]["function"] == {
        "name": "k8s__get",
        "description": "Look at an object.",
        "parameters": GET.parameters,
    }


async def test_a_forced_tool_is_the_only_way_to_answer(server):
    question = QUESTION.model_copy(update={"tools": (GET,), "forced": "k8s.get"})
    call = called(0, id="c1", function={"name": "k8s__get", "arguments": "{}"})
    answer = await asked(server, stream(delta("stop", **call), END), question)
    assert [call.name for call in answer.calls] == ["k8s.get"]
    wanted = {"type": "function", "function": {"name": "k8s__get"}}
    assert server.asked[0][1]["tool_choice"] == wanted


async def test_a_busy_model_says_when_to_come_back_and_is_asked_once(server):
    busy = refusal("429 Too Many Requests", {"message": f"slow down, {KEY}"}, **{"retry-after": 7})
    with pytest.raises(ModelAwayError, match="has too much to do") as away:
        await asked(server, busy)
    assert away.value.retry_in == 7
    assert len(server.asked) == 1
    assert KEY not in str(away.value)


async def test_a_model_that_fails_once_answers_the_second_time(server):
    sleeps = []

    async def sleep(seconds):
        sleeps.append(seconds)

    broken = refusal("500 Internal Server Error", {"message": "oops"})
    server.script = [broken, stream(delta("stop", content="x"), END)]
    retrying = Retrying(model(server), 3, Pauses(sleep, lambda: 0.0))
    assert (await retrying.answer(QUESTION)).text == "x"
    assert (sleeps, len(server.asked)) == ([1.0], 2)


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        (refusal("401 Unauthorized", {"message": f"bad key {KEY}"}), "set TOCSIN_MODEL_KEYS"),
        (refusal("404 Not Found", {"message": "no model m"}), "look at TOCSIN_MODEL"),
        (
            refusal(
                "400 Bad Request",
                {
                    "message": "This model's maximum context length is 4096 tokens",
                    "code": "context_length_exceeded",
                },
            ),
            "the question is too long",
        ),
        (
            refusal(
                "429 Too Many Requests",
                {"message": "You exceeded your current quota", "code": "insufficient_quota"},
            ),
            "the provider's billing",
        ),
    ],
    ids=["key", "model", "length", "credit"],
)
async def test_a_refusal_says_what_to_do_and_never_the_key(server, answer, advice):
    with pytest.raises(ModelRefusedError, match=advice) as refused:
        await asked(server, answer)
    assert KEY not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    "answer",
    [
        stream(event("{not json")),
        stream(delta(content="half"), event({"error": {"message": "overloaded", "code": 503}})),
        stream(delta(content="half")),
        stream(event("[DONE]")),
        [("200 OK", "text/html", {}), b"<html>welcome to the proxy</html>"],
        refusal("502 Bad Gateway", {"message": "x"}),
    ],
    ids=["garbage", "error-midway", "cut-off", "empty", "not-a-model", "gateway"],
)
async def test_an_answer_that_breaks_off_is_none(server, answer):
    with pytest.raises(ModelAwayError, match="openai/m"):
        await asked(server, answer)


async def test_a_stream_that_stalls_is_given_up_and_closed(server):
    stalls = stream(delta(content="half"), asyncio.Event())
    with pytest.raises(ModelAwayError, match=r"said nothing for 0\.2 s; TOCSIN_MODEL_STALL"):
        await asked(server, stalls, patience=Patience(30, 0.2))
    await happened(server.lost)


async def test_a_model_that_does_not_stop_is_given_up(server, monkeypatch):
    monkeypatch.setattr(litellm_client, "MOST_CHARACTERS", 100)
    with pytest.raises(ModelRefusedError, match="does not stop to answer"):
        await asked(server, stream(*[delta(content="x" * 30)] * 9, END))


async def test_a_model_that_drips_for_ever_is_given_up(server):
    drops = [delta(content="x"), asyncio.Event()]
    with pytest.raises(ModelAwayError, match=r"did not finish within 0\.3 s; TOCSIN_MODEL_SEC"):
        await asked(server, stream(*drops), patience=Patience(0.3, 30))
    await happened(server.lost)


@pytest.mark.parametrize("said", [[], [delta(content="half")]], ids=["waiting", "streaming"])
async def test_a_cancelled_question_closes_its_connection_at_once(server, said):
    server.script = [stream(*said, asyncio.Event())]
    began = asyncio.Event()

    async def listen(piece):
        began.set()

    asking = asyncio.create_task(model(server).answer(QUESTION, listen))
    await happened(began if said else server.reached)
    cancelled = time.monotonic()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await happened(server.lost)
    assert time.monotonic() - cancelled < 5


async def test_nobody_listening_is_a_model_that_is_away():
    lonely = LiteLlm("openai/m", Access(url=f"http://{LOOPBACK}:1/v1"), PATIENT)
    with pytest.raises(ModelAwayError, match="did not answer"):
        await lonely.answer(QUESTION)


async def test_a_provider_that_takes_marks_is_told_what_to_cache(server):
    def said(kind, **more):
        return f"event: {kind}\n".encode() + event({"type": kind, **more})

    usage = {"input_tokens": 5, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 10}
    start = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": [],
        "usage": usage | {"output_tokens": 1},
    }
    block = {"type": "text", "text": ""}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    question = QUESTION.model_copy(update={"tools": (GET,)})
    server.url = server.url.removesuffix("/v1")
    price = Price(input=Decimal(1), cached=Decimal(0), written=Decimal(2), output=Decimal(0))
    answer = await asked(
        server,
        stream(
            said("message_start", message=start),
            said("content_block_start", index=0, content_block=block),
            said("content_block_delta", index=0, delta={"type": "text_delta", "text": "ok"}),
            said("content_block_stop", index=0),
            said("message_delta", delta=end, usage={"output_tokens": 2}),
            said("message_stop"),
        ),
        question,
        name="anthropic/claude-x",
        price=price,
    )
    body = server.asked[0][1]
    mark = {"type": "ephemeral"}
    assert body["max_tokens"] == 99
    assert body["system"] == [{"type": "text", "text": "rules", "cache_control": mark}]
    assert body["tools"][-1]["cache_control"] == mark
    assert (answer.text, answer.usage.input_tokens, answer.usage.cached_tokens) == ("ok", 55, 40)
    assert answer.usage.cost == Decimal("0.000025")


IMPORT = """
import sys
seen = []

def hook(event, arguments):
    reached = event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname")
    read = event == "open" and str(arguments[0]).endswith(".env")
    if reached or read:
        seen.append((event, str(arguments)))

sys.addaudithook(hook)
from tocsin_agents.models import litellm_client
assert "litellm" not in sys.modules, "imported before anybody asked"
litellm_client.warm_up().join()
assert "litellm" in sys.modules
import logging, os
assert logging.getLogger("LiteLLM").handlers == []
assert "FROM_DOT_ENV" not in os.environ
assert seen == [], seen
"""


async def test_importing_the_library_reaches_no_network_and_reads_no_env_file(tmp_path):
    (tmp_path / ".env").write_text("FROM_DOT_ENV=1\n")
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", IMPORT],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
