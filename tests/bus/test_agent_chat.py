"""A chat over a real bus and store: two gateways, one agent, and nothing lost between them."""

import asyncio
import io
import json
import zipfile
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest
import uvicorn
from langgraph.checkpoint.memory import InMemorySaver
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tocsin_agents.limits.budgets import Limits
from tocsin_agents.loop.engine import Engine
from tocsin_agents.loop.state import TYPES
from tocsin_contracts.chat import ChatAsked, ChatEnding, Confirmation, Query
from tocsin_contracts.chat_frames import ChatState, StatusFrame
from tocsin_contracts.live import ChatMoved
from tocsin_contracts.roles import Role
from tocsin_gateway import app
from tocsin_gateway.access import Principal
from tocsin_gateway.chat.rooms import Rooms
from tocsin_gateway.refusals import RefusedError
from tocsin_kit import ensure, store
from tocsin_kit.chat_record import ChatFiles
from tocsin_kit.chats import HELD, MOST_FRAMES, UNTAKEN, Asked, Chats, Held
from tocsin_kit.checkpoint_cells import strict_serializer
from tocsin_kit.errors import TransientError
from tocsin_kit.outputs import RedisOutputs
from tocsin_kit.redaction import Redactor
from tocsin_rca import tools
from tocsin_rca.chat.answering import ChatHandlers
from tocsin_rca.chat.starting import SERVER
from tocsin_rca.chat.talker import Talker
from tocsin_rca.investigation.scenes import fleet_of
from tocsin_rca.tools.cluster import ClusterTools
from tocsin_testing.chatting import SESSION, FakeFiles, turn
from tocsin_testing.fakes import FakeClock, FakeIntake, FakePublisher, FakeRuns, outage
from tocsin_testing.harness import BOUND, LEASE, running, until
from tocsin_testing.investigating import looks, world
from tocsin_testing.scripted_model import ScriptedModel, Stalled, says
from tocsin_testing.values import NOW

pytestmark = pytest.mark.servers

ANA, BO, EVE = "token-of-ana-0123456789", "token-of-bo-0123456789", "token-of-eve-0123456789"
ROLES = {"ana": "approver", "bo": "operator"}


def told(text="words"):
    return StatusFrame(at=NOW, state=ChatState.WORKING, text=text)


@pytest.fixture
async def chats(redis_url):
    client = store.connect(redis_url)
    yield Chats(client, clock=FakeClock())
    await client.aclose()


async def test_a_session_is_one_persons_and_takes_one_question_at_a_time(chats):
    assert await chats.open(SESSION, "ana")
    assert not await chats.open(SESSION, "bo")
    assert await chats.ask(SESSION, "t1", "bo") is Asked.UNKNOWN
    asked = await asyncio.gather(*(chats.ask(SESSION, f"t{n}", "ana") for n in range(20)))
    assert sorted(asked) == [Asked.BUSY] * 19 + [Asked.OK]
    (first,) = (f"t{n}" for n, one in enumerate(asked) if one is Asked.OK)
    assert await chats.ask(SESSION, first, "ana") is Asked.OK


async def test_one_worker_holds_a_turn_and_the_next_one_is_told_that_there_was_another(chats):
    await chats.open(SESSION, "ana")
    await chats.ask(SESSION, "t1", "ana")
    assert await chats.hold(SESSION, "t1", "one") is Held.NEW
    assert await chats.hold(SESSION, "t1", "one") is Held.OURS
    assert await chats.hold(SESSION, "t1", "two") is Held.BUSY
    chats._clock.advance(HELD.total_seconds())
    assert await chats.hold(SESSION, "t1", "two") is Held.AGAIN
    assert await chats.tell(SESSION, told(), "one") == 0
    assert await chats.tell(SESSION, told(), "two") == 1
    assert not await chats.end(SESSION, turn(turn="t1"), told(), "one")
    assert await chats.end(SESSION, turn(turn="t1"), told(), "two")
    assert await chats.hold(SESSION, "t1", "two") is Held.OVER
    assert [kept.turn for kept in await chats.history(SESSION)] == ["t1"]


async def test_a_question_that_no_worker_took_keeps_the_next_one_waiting_for_minutes_only(chats):
    await chats.open(SESSION, "ana")
    await chats.ask(SESSION, "lost", "ana")
    assert await chats.ask(SESSION, "next", "ana") is Asked.BUSY
    chats._clock.advance(UNTAKEN.total_seconds())
    assert await chats.ask(SESSION, "next", "ana") is Asked.OK
    assert await chats.hold(SESSION, "lost", "one") is Held.OVER
    assert await chats.hold(SESSION, "next", "one") is Held.NEW
    chats._clock.advance(UNTAKEN.total_seconds())
    assert await chats.ask(SESSION, "third", "ana") is Asked.BUSY


async def test_frames_are_numbered_without_a_gap_and_only_the_newest_are_kept(chats):
    await chats.open(SESSION, "ana")
    await asyncio.gather(*(chats.tell(SESSION, told()) for _ in range(MOST_FRAMES + 5)))
    frames, after = [], 0
    while found := await chats.frames(SESSION, after):
        frames += found
        after = found[-1].number
    assert [frame.number for frame in frames] == list(range(6, MOST_FRAMES + 6))
    assert [one.number for one in await chats.frames(SESSION, MOST_FRAMES + 3)] == [2004, 2005]


async def test_a_wish_and_an_answer_count_for_the_turn_that_they_were_said_to(chats):
    await chats.open(SESSION, "ana")
    await chats.ask(SESSION, "t1", "ana")
    await chats.cancel(SESSION, "t0", "ana")
    assert (await chats.get(SESSION)).cancelled_by == ""
    await chats.cancel(SESSION, "t1", "ana")
    assert (await chats.get(SESSION)).cancelled_by == "ana"
    assert not await chats.confirm(SESSION, "x", approved=True)
    await chats.request(SESSION, "x")
    assert await chats.confirmed(SESSION, "x") is None
    assert await chats.confirm(SESSION, "x", approved=False)
    assert not await chats.confirm(SESSION, "x", approved=True)
    assert await chats.confirmed(SESSION, "x") is False
    assert await chats.confirmed(SESSION, "y") is None
    await chats.end(SESSION, turn(turn="t1"), told())
    await chats.ask(SESSION, "t2", "ana")
    assert (await chats.get(SESSION)).cancelled_by == ""
    assert await chats.confirmed(SESSION, "x") is None


async def test_of_a_yes_and_a_no_at_the_same_time_one_counts_and_the_other_is_told_so(chats):
    await chats.open(SESSION, "ana")
    await chats.ask(SESSION, "t1", "ana")
    for n in range(20):
        id = f"{n}" * 32
        await chats.request(SESSION, id)
        said = [chats.confirm(SESSION, id, approved=yes) for yes in (False, True) * 5]
        taken = await asyncio.gather(*said)
        assert taken.count(True) == 1
        assert await chats.confirmed(SESSION, id) is (taken.index(True) % 2 == 1)


async def test_whoever_confirms_when_nothing_waits_any_more_is_told_so(chats):
    await chats.open(SESSION, "ana")
    await chats.ask(SESSION, "t1", "ana")
    await chats.request(SESSION, "x")
    await chats.request(SESSION, "")
    assert not await chats.confirm(SESSION, "x", approved=True)
    assert not await chats.confirm(SESSION, "", approved=True)
    assert await chats.confirmed(SESSION, "x") is None


async def test_a_wish_that_is_said_a_hundred_times_is_told_once(chats):
    ana = Principal("ana", Role.OPERATOR)
    rooms = Rooms(chats, FakeFiles(), FakePublisher(), None)
    session = await rooms.enter("", ana)
    await rooms.ask(session, ana, Query(text="Why?"))
    for _ in range(100):
        await rooms.cancel(session, ana)
    states = [frame.state for frame in await chats.frames(session, 0)]
    assert states == [ChatState.ASKED, ChatState.CANCELLING]


DEEDS = {
    "enter": lambda rooms, session, by: rooms.enter(session, by),
    "ask": lambda rooms, session, by: rooms.ask(session, by, Query(text="Why?")),
    "cancel": lambda rooms, session, by: rooms.cancel(session, by),
    "confirm": lambda rooms, session, by: rooms.confirm(session, by, YES),
    "show": lambda rooms, session, by: rooms.show(session, by),
    "keep": lambda rooms, session, by: rooms.keep(session, by, []),
    "frames": lambda rooms, session, by: anext(rooms.frames(session, by, 0)),
}
YES = Confirmation(id="x", approved=True)


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS)
async def test_p3_in_the_session_of_another_nobody_does_anything(chats, deed):
    await chats.open(SESSION, "ana")
    await chats.request(SESSION, "x")
    rooms = Rooms(chats, FakeFiles(), FakePublisher(), None)
    for session in (SESSION, "c" + "9" * 24):
        with pytest.raises(RefusedError, match="no session"):
            await deed(rooms, session, Principal("bo", Role.ADMIN))
    assert await chats.confirmed(SESSION, "x") is None
    assert await chats.frames(SESSION, 0) == []


async def test_p3_a_yes_to_an_agent_takes_the_role_that_asking_for_it_does(chats):
    await chats.open(SESSION, "ana")
    await chats.request(SESSION, "x")
    rooms, demoted = Rooms(chats, FakeFiles(), FakePublisher(), None), Role.OPERATOR
    with pytest.raises(RefusedError, match="needs the role approver"):
        await rooms.confirm(SESSION, Principal("ana", demoted), YES)
    assert await chats.confirmed(SESSION, "x") is None
    await rooms.confirm(SESSION, Principal("ana", demoted), Confirmation(id="x", approved=False))
    assert await chats.confirmed(SESSION, "x") is False


class Office:
    """An agent with a model of the test, and as many gateways as the test starts."""

    def __init__(self, folder, nats_url, redis_url, stack):
        self.urls = {"nats_url": nats_url, "redis_url": redis_url}
        self.world = world(folder)
        self.stack, self.intake = stack, FakeIntake()
        self.model = None

    async def agent(self, *script):
        self.model = ScriptedModel(*script)
        rig = await self.stack.enter_async_context(
            running(*self.urls.values(), lambda bus: bus.watch(ChatAsked, self._heard))
        )
        raw = store.connect(self.urls["redis_url"], text=False)
        self.stack.push_async_callback(raw.aclose)

        async def moved(session):
            await rig.bus.tell(ChatMoved(run_id=session, agent="chat"))

        self.handlers = self._handlers(Chats(rig.redis, moved), raw, rig.bus)
        return rig

    async def _heard(self, event: ChatAsked) -> None:
        """Answer."""
        await self.handlers.on_chat_asked(event)

    def _handlers(self, chats, raw, bus):
        def offered(fleet, mode, own):
            kinds = (ClusterTools(fleet).toolset(),)
            return tools.conversational(kinds, (SERVER, own), mode, Redactor())

        talker = Talker(
            engine=Engine(limits=Limits(soft=None), nonce=lambda: "mark"),
            models=lambda _: self.model,
            tools=offered,
            fleet=lambda cluster: fleet_of(self.world, cluster, {}),
            world=self.world,
            chats=chats,
            opening=None,
            redactor=Redactor(),
            saver=InMemorySaver(serde=strict_serializer(*TYPES)),
            look_seconds=0.02,
        )
        outputs = RedisOutputs(raw, Redactor())
        return ChatHandlers(
            chats, ChatFiles(raw), outputs, FakeRuns(), publisher=bus, talker=talker
        )

    @asynccontextmanager
    async def gateway(self):
        """Yield the port of a gateway as it is wired in production."""
        async with AsyncExitStack() as stack:
            service = app.build()
            stack.push_async_callback(service.parts.aclose)
            stack.push_async_callback(service.parts.bus.close)
            await service.parts.bus.start()
            config = uvicorn.Config(service.http, port=0, log_config=None, lifespan="off")
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server._serve())
            await until(lambda: asyncio.sleep(0, server.started), bool)
            try:
                yield server.servers[0].sockets[0].getsockname()[1]
            finally:
                server.should_exit = server.force_exit = True
                await serving


@pytest.fixture
async def office(tmp_path, nats_url, redis_url, monkeypatch):
    for name, value in {
        "NATS_URL": nats_url,
        "REDIS_URL": redis_url,
        "ACK_WAIT": str(LEASE),
        "API_TOKENS": json.dumps({"ana": ANA, "bo": BO, "eve": EVE}),
        "API_ROLES": json.dumps(ROLES),
    }.items():
        monkeypatch.setenv(f"TOCSIN_{name}", value)
    await ensure.ensure(nats_url, ack_wait=LEASE)
    async with AsyncExitStack() as stack:
        yield Office(tmp_path, nats_url, redis_url, stack)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


class Talk:
    """One client of a chat, who knows what it has heard."""

    def __init__(self, socket, heard):
        self.socket, self.heard = socket, heard

    async def say(self, **message):
        await self.socket.send(json.dumps(message))

    async def hear(self, **wanted):
        """Return the next frame that is as wanted."""
        async with asyncio.timeout(BOUND):
            while True:
                frame = json.loads(await self.socket.recv())
                if frame["number"]:
                    self.heard.append(frame)
                if wanted.items() <= frame.items():
                    return frame


@asynccontextmanager
async def talking(port, token=ANA, session="", heard=None, **headers):
    heard = [] if heard is None else heard
    where = f"ws://127.0.0.1:{port}/api/v1/ws"
    async with connect(where, additional_headers=bearer(token) | headers) as socket:
        talk = Talk(socket, heard)
        last = heard[-1]["number"] if heard else 0
        await talk.say(type="init", session=session, last=last)
        talk.session = (await talk.hear(state="opened"))["session"]
        yield talk


async def test_a_turn_is_resumed_and_cancelled_at_another_gateway_without_gap_or_repeat(office):
    stalled = Stalled(says("It is memory, I think, and more."), words=4)
    await office.agent(looks(), stalled)
    heard = []
    async with office.gateway() as one, talking(one, heard=heard) as talk:
        session = talk.session
        await talk.say(type="query", text="Why does web restart?")
        await talk.hear(type="tool_call", tool="k8s.get")
    async with office.gateway() as other, talking(other, session=session, heard=heard) as talk:
        await talk.hear(type="message")
        await talk.say(type="control/cancel")
        last = await talk.hear(state="ended")
    assert last["ending"] == ChatEnding.CANCELLED
    assert [frame["number"] for frame in heard] == list(range(1, len(heard) + 1))
    words = "".join(frame["text"] for frame in heard if frame["type"] == "message")
    assert "It is memory, I think, and more.".startswith(words.rstrip(" ,"))
    async with office.gateway() as third, httpx.AsyncClient() as http:
        where = f"http://127.0.0.1:{third}/api/v1/chat/sessions/{session}"
        shown = (await http.get(where, headers=bearer(ANA))).json()
        assert [one["ending"] for one in shown["turns"]] == ["cancelled"]
        for token in (BO, EVE):
            assert (await http.get(where, headers=bearer(token))).status_code == 404


async def test_the_same_over_http_with_a_file_that_the_agent_is_told(office):
    await office.agent(says("It says boom."), says("Again boom."))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("logs/app.log", "boom at noon\n")
    async with office.gateway() as port, httpx.AsyncClient(headers=bearer(BO)) as http:
        base = f"http://127.0.0.1:{port}/api/v1/chat"
        session = (await http.post(f"{base}/sessions")).json()["session"]
        files = {"file": ("logs.zip", packed.getvalue())}
        answer = await http.post(f"{base}/sessions/{session}/attachments", files=files)
        (attached,) = answer.json()["attachments"]
        assert (attached["name"], attached["kind"]) == ("logs/app.log", "text")
        asked = {"session": session, "text": "What is this?", "attachments": [attached["id"]]}
        events = await streamed(http, "POST", base, json=asked)
        assert events[0]["session"] == session
        assert (events[1]["state"], events[-1]["ending"]) == ("asked", "answered")
        (message,) = office.model.questions[0].messages[-1:]
        assert "boom at noon" in message.text
        after = {"Last-Event-ID": str(events[-2]["number"])}
        again = f"{base}/sessions/{session}/frames"
        assert (await streamed(http, "GET", again, headers=after))[-1] == events[-1]
        first = await http.post(f"{base}/sessions/{session}/cancel")
        assert first.status_code == 204
        agent = {"text": "Start a run.", "mode": "agent"}
        refused = await http.post(base, json=agent)
        assert (refused.status_code, "approver" in refused.text) == (403, True)


async def streamed(http, method, where, **request):
    """Return the frames of a stream until its turn has ended."""
    found = []
    async with asyncio.timeout(BOUND), http.stream(method, where, **request) as answer:
        assert answer.status_code == 200
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
                if found[-1].get("state") == "ended":
                    break
    return found


async def test_nonsense_is_answered_and_nobody_else_gets_in(office):
    async with office.gateway() as port:
        async with talking(port) as talk:
            await talk.say(type="query", text=" ")
            assert "text" in (await talk.hear(type="error"))["error"]
            await talk.say(type="confirmation", id="x", approved=True)
            assert "nothing waits" in (await talk.hear(type="error"))["error"]
            await talk.say(type="init")
            await talk.hear(type="error")
            await talk.socket.send("x" * 40_000)
            with pytest.raises(ConnectionClosed):
                await talk.hear(type="never")
            session = talk.session
        async with connect(
            f"ws://127.0.0.1:{port}/api/v1/ws", additional_headers=bearer(BO)
        ) as socket:
            await socket.send(json.dumps({"type": "init", "session": session}))
            assert "no session" in await socket.recv()
        for token, status in ((EVE, 403), ("nobody", 401)):
            with pytest.raises(InvalidStatus) as refused:
                async with talking(port, token):
                    pass
            assert refused.value.response.status_code == status


async def test_a_question_that_the_bus_does_not_take_leaves_the_next_one_free(chats):
    bus, ana = FakePublisher(), Principal("ana", Role.OPERATOR)
    rooms = Rooms(chats, FakeFiles(), bus, None)
    session = await rooms.enter("", ana)
    bus.down = outage()
    with pytest.raises(TransientError):
        await rooms.ask(session, ana, Query(text="Why?"))
    bus.down = None
    asked = await rooms.ask(session, ana, Query(text="Why?"))
    states = [(frame.state, frame.ending) for frame in await chats.frames(session, 0)]
    assert states == [("asked", None), ("ended", "failed"), ("asked", None)]
    assert [event.turn for event in bus.published] == [asked]
