"""An external agent as a tool: found by its card, asked with care, its answer typed and cleaned."""

import asyncio
import json
from contextlib import asynccontextmanager, suppress

import httpx
import pytest

from tocsin_agents.remote.agent import RemoteAgent
from tocsin_agents.remote.config import ExternalAgent
from tocsin_agents.tools.port import Capability, Identity, Status, ToolContext
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.processes import LOOPBACK

ANN = Identity("ann")
REAL = ToolContext(identity=ANN, dry_run=False)
TOKEN = "canary-0123456789"
URL = "https://agents.example"
CARD = {
    "name": "k8s",
    "description": "Knows pods.",
    "url": f"{URL}/rpc",
    "capabilities": {"streaming": True},
    "skills": [{"id": "get-pods", "description": "Lists pods."}],
}


def sse(*events):
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return httpx.Response(200, content=body, headers={"content-type": "text/event-stream"})


def task(text="out of memory", state="completed"):
    artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": text}]}
    result = {"kind": "task", "status": {"state": state}, "artifacts": [artifact]}
    return {"jsonrpc": "2.0", "id": "1", "result": result}


class Body(httpx.AsyncByteStream):
    def __init__(self, content):
        self._content = content

    async def __aiter__(self):
        yield self._content


class World:
    """What answers at which path; anything else is not found."""

    def __init__(self, paths):
        self.paths = paths
        self.asked = []

    def __call__(self, request):
        self.asked.append(request)
        answer = self.paths.get(request.url.path)
        if isinstance(answer, Exception):
            raise answer
        answer = answer or httpx.Response(404)
        return httpx.Response(
            answer.status_code, headers=answer.headers, stream=Body(answer.content)
        )

    @property
    def sent(self):
        return json.loads(self.asked[-1].content)


async def public(host, port):
    return ["93.184.216.34"]


def world(answer=None, card=CARD, at="/.well-known/agent-card.json", **more):
    return World({at: httpx.Response(200, json=card), "/rpc": answer or sse(task()), **more})


def agent(transport, clock=lambda: 0.0, **more):
    settings = {"url": URL, "token": TOKEN, "capability": "read", **more}
    return RemoteAgent(
        "k8s-agent",
        ExternalAgent(**settings),
        transport=httpx.MockTransport(transport),
        find=public,
        clock=clock,
    )


async def ask(remote, question="why?", context=REAL):
    (tool,) = await remote.tools(ANN)
    return await tool.call({"question": question}, context)


async def test_an_agent_is_a_tool_that_says_whose_words_describe_it():
    (tool,) = await agent(world()).tools(ANN)
    assert (tool.spec.name, tool.spec.capability) == ("k8s-agent.ask", Capability.READ)
    assert tool.spec.description == (
        "Asks the external agent 'k8s-agent'. It says about itself: "
        "k8s: Knows pods. Skills: get-pods: Lists pods."
    )


async def test_a_question_becomes_a_typed_answer_and_is_told_as_it_comes():
    there, told = world(), []

    async def progress(text):
        told.append(text)

    context = ToolContext(identity=ANN, dry_run=False, progress=progress)
    there.paths["/rpc"] = sse({"type": "text", "text": "out of "}, {"content": "memory"})
    result = await ask(agent(there), context=context)
    assert result.status is Status.OK
    assert result.data == {
        "agent": "k8s-agent",
        "text": "out of memory",
        "tools": [],
        "truncated": False,
    }
    assert told == ["out of ", "memory"]
    assert there.sent["method"] == "message/stream"
    assert there.sent["params"]["message"]["parts"] == [{"kind": "text", "text": "why?"}]
    assert there.asked[-1].headers["authorization"] == f"Bearer {TOKEN}"


async def test_an_agent_that_does_not_stream_is_waited_for():
    there = world(httpx.Response(200, json=task()), CARD | {"capabilities": {}})
    assert (await ask(agent(there))).data["text"] == "out of memory"
    assert there.sent["method"] == "message/send"
    assert there.sent["params"]["configuration"] == {"blocking": True}


async def test_an_agent_of_version_one_is_asked_in_its_own_words():
    interface = {"url": f"{URL}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    there = world(card=CARD | {"supportedInterfaces": [interface]})
    await ask(agent(there))
    assert there.sent["method"] == "SendStreamingMessage"
    assert there.sent["params"]["message"]["role"] == "ROLE_USER"
    assert there.sent["params"]["message"]["parts"] == [{"text": "why?"}]
    assert there.asked[-1].headers["a2a-version"] == "1.0"


async def test_a_card_at_the_older_place_is_found():
    there = world(at="/.well-known/agent.json")
    assert (await ask(agent(there))).status is Status.OK


async def test_a_controller_shows_the_card_and_passes_the_question_on():
    base = "/api/a2a/kagent/k8s"
    card = CARD | {"url": "http://k8s.kagent:8080"}
    there = world(card=card, at=f"{base}/.well-known/agent.json", **{f"{base}/": sse(task())})
    remote = agent(there, reach="controller", namespace="kagent", agent="k8s")
    assert (await ask(remote)).data["text"] == "out of memory"
    assert there.asked[-1].url.path == f"{base}/"


@pytest.mark.parametrize(
    "card",
    [
        CARD | {"url": "https://evil.example/rpc"},
        CARD | {"url": "http://169.254.169.254/latest"},
        CARD | {"url": f"{URL}:6379/rpc"},
    ],
    ids=lambda card: card["url"],
)
async def test_a_card_cannot_send_us_to_another_host(card):
    there = world(card=card)
    with pytest.raises(TransientError, match="external agent 'k8s-agent': "):
        await agent(there).tools(ANN)
    assert [request.url.path for request in there.asked] == ["/.well-known/agent-card.json"]


async def test_a_redirect_is_followed_by_nobody():
    away = httpx.Response(307, headers={"location": "https://evil.example/"})
    there = world(away)
    result = await ask(agent(there))
    assert (result.status, "set `url`" in result.error) == (Status.ERROR, True)
    assert {request.headers["host"] for request in there.asked} == {"agents.example"}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (httpx.Response(503), "the agent answers 503"),
        (httpx.Response(401), "look at its `token`"),
        (httpx.Response(404), "the agent answers 404"),
        (httpx.ConnectError("refused"), "the agent is away: ConnectError"),
        (httpx.ReadTimeout("slow"), "the agent said nothing for 60 s"),
        (httpx.Response(200, html="<p>hi"), "is `url` really an agent's?"),
        (sse(task(state="failed")), "gave no answer: failed"),
        (sse({"type": "ping"}), "gave no answer: it said nothing"),
        (sse({"error": f"bad {TOKEN}\x1b[2J"}), "gave no answer: bad [redacted]"),
        (
            httpx.Response(
                200,
                content=b"x",
                headers={"content-encoding": "new", "content-type": "text/plain"},
            ),
            "answers compressed",
        ),
        (
            httpx.Response(200, text="x" * (4 * 1024 * 1024 + 1)),
            "the agent sends more than 4194304 bytes",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_goes_wrong_is_a_result_that_says_so(answer, error):
    result = await ask(agent(world(answer)))
    assert result.status is Status.ERROR
    assert error in result.error
    assert TOKEN not in result.error


async def test_an_answer_is_cleaned_and_cut():
    there = world(sse({"content": "a\x1b[31m\u202eb" + "x" * 200}))
    result = await ask(agent(there, most_chars=100))
    assert len(result.data["text"]) == 100
    assert result.data["text"].startswith("abx")
    assert result.data["truncated"]
    assert result.message == "The answer was too long and is not whole."


async def test_p6_a_secret_in_a_question_stays_here():
    there = world()
    await ask(agent(there), f"why does it say {TOKEN} and password: hunter2hunter2?")
    assert "canary" not in json.dumps(there.sent)
    assert "hunter2" not in json.dumps(there.sent)


async def test_in_a_dry_run_only_an_agent_that_reads_is_asked():
    dry = ToolContext(identity=ANN, dry_run=True)
    there = world()
    assert (await ask(agent(there, capability="write"), context=dry)).status is Status.REFUSED
    assert len(there.asked) == 1
    assert (await ask(agent(there), context=dry)).status is Status.OK


async def test_a_card_holds_for_a_while_and_so_does_its_absence():
    now = [0.0]
    there = World({})
    remote = agent(there, lambda: now[0])
    for _ in range(2):
        with pytest.raises(TransientError, match="there is no card"):
            await remote.tools(ANN)
    assert len(there.asked) == 2
    there.paths = world().paths
    now[0] = 31
    await remote.tools(ANN)
    await remote.tools(ANN)
    assert len(there.asked) == 3
    now[0] = 400
    there.paths = {}
    with pytest.raises(TransientError):
        await remote.tools(ANN)


@pytest.mark.parametrize("name", ["K8s", "a.b", "", "a b"])
def test_an_agent_with_a_name_that_no_tool_could_have_stops_the_start(name):
    with pytest.raises(PermanentError, match="no tool may be called"):
        RemoteAgent(name, ExternalAgent(url=URL))


def test_an_address_without_tls_is_for_hosts_of_ones_own():
    with pytest.raises(PermanentError, match="private: true"):
        RemoteAgent("a", ExternalAgent(url="http://agents.example"))


@asynccontextmanager
async def served(*pieces):
    """A server on this machine that shows a card, says pieces, and then waits for us to go."""
    gone = asyncio.Event()

    async def serve(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if head.startswith("GET"):
            port = writer.get_extra_info("sockname")[1]
            card = json.dumps(CARD | {"url": f"http://{LOOPBACK}:{port}/rpc"}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(card), card))
        else:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            await reader.readuntil(b"}}")
            await reader.read()
            gone.set()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    async with server:
        yield f"http://{LOOPBACK}:{server.sockets[0].getsockname()[1]}", gone


async def test_over_a_real_connection_an_answer_that_ended_is_not_waited_on():
    body = f"data: {json.dumps(task())}\n\n".encode()
    async with served(body[:20], body[20:]) as (url, gone), asyncio.timeout(10):
        remote = RemoteAgent("local", ExternalAgent(url=url, private=True, capability="read"))
        assert (await ask(remote)).data["text"] == "out of memory"
        await gone.wait()


async def test_an_agent_that_never_ends_is_given_up_and_its_connection_closed():
    drips = [b'data: {"content": "x"}\n\n'] * 3
    async with served(*drips) as (url, gone), asyncio.timeout(10):
        config = ExternalAgent(url=url, private=True, capability="read", seconds=0.2)
        result = await ask(RemoteAgent("local", config))
        assert "did not finish within 0.2 s" in result.error
        await gone.wait()


async def test_a_cancelled_question_closes_its_connection():
    async with served(b'data: {"content": "x"}\n\n') as (url, gone), asyncio.timeout(10):
        began = asyncio.Event()

        async def progress(text):
            began.set()

        context = ToolContext(identity=ANN, dry_run=False, progress=progress)
        remote = RemoteAgent("local", ExternalAgent(url=url, private=True, capability="read"))
        asking = asyncio.create_task(ask(remote, context=context))
        await began.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await gone.wait()
