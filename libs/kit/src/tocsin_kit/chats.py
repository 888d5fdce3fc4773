"""Sessions of chats in the store: whose each is, its turn, numbered frames, and its history.

Frames are read from here alone, so whoever comes back after a number misses none and hears none
twice, whichever process it asks. Every method raises TransientError while the store is away.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from enum import StrEnum

from redis.asyncio import Redis

from tocsin_contracts.chat import ChatTurn
from tocsin_contracts.chat_frames import FRAME, Frame
from tocsin_kit import keys
from tocsin_kit.chat_record import Session
from tocsin_kit.clock import Clock, SystemClock, millis
from tocsin_kit.store import Script, text_fields, translated

KEPT = timedelta(days=7)
"""Since the last frame of a session."""

MOST_FRAMES = 2000
MOST_TURNS = 50
READ_AT_ONCE = 200
HELD = timedelta(seconds=30)
"""How long a turn waits for a worker that says nothing any more."""

UNTAKEN = timedelta(minutes=2)
"""After which a question that no worker took may be asked anew, as after a crash of who asked."""

LONGEST_TURN = timedelta(minutes=30)
"""After which a session takes another question, whatever became of the last one."""

Moved = Callable[[str], Awaitable[None]]
"""Is told the session that has a new frame; it never fails."""


class Asked(StrEnum):
    """What becomes of a question."""

    OK = "ok"
    BUSY = "busy"
    UNKNOWN = "unknown"


class Held(StrEnum):
    """What becomes of a wish to work on a turn."""

    NEW = "new"
    AGAIN = "again"
    OURS = "ours"
    BUSY = "busy"
    OVER = "over"


async def _nobody(session: str) -> None:
    del session


class Chats:
    """The records of all sessions; `moved` tells whoever looks on that there is more."""

    def __init__(self, client: Redis, moved: Moved = _nobody, clock: Clock | None = None) -> None:
        self._client = client
        self._moved = moved
        self._clock = clock or SystemClock()
        self._ask = Script(client, "chat_ask")
        self._confirm = Script(client, "chat_confirm")
        self._hold = Script(client, "chat_hold")
        self._tell = Script(client, "chat_tell")
        self._end = Script(client, "chat_end")

    async def open(self, session: str, owner: str) -> bool:
        """Open a session for a person, or find it again; False if it is another's."""
        key = keys.chat(session)
        async with translated(f"open chat {session!r}"):
            await self._client.hsetnx(key, "owner", owner)
            await self._client.pexpire(key, KEPT)
            return str(await self._client.hget(key, "owner")) == owner

    async def get(self, session: str) -> Session | None:
        """Return a session as it stands; None if there is none."""
        async with translated(f"read chat {session!r}"):
            record = text_fields(await self._client.hgetall(keys.chat(session)))
        return Session.read(record, self._clock.now()) if "owner" in record else None

    async def ask(self, session: str, turn: str, by: str) -> Asked:
        """Begin a turn, unless one is under way; the same one again changes nothing."""
        now = self._clock.now()
        ends = millis(now + UNTAKEN)
        return Asked(
            await self._ask([keys.chat(session)], [by, turn, millis(now), ends, _ms(KEPT)])
        )

    async def hold(self, session: str, turn: str, token: str) -> Held:
        """Be the turn's only worker, for half a minute from now on."""
        now = self._clock.now()
        return Held(await self._held(session, turn, token, until=now + HELD))

    async def let_go(self, session: str, turn: str, token: str) -> None:
        """Let another worker hold the turn at once; one who does not hold it changes nothing."""
        await self._held(session, turn, token, until=None)

    async def _held(self, session: str, turn: str, token: str, *, until: datetime | None) -> str:
        now = self._clock.now()
        ends = millis(until) if until else 0
        longest = millis(now + LONGEST_TURN)
        args: list[str | int] = [turn, token, millis(now), ends, longest]
        return str(await self._hold([keys.chat(session)], args))

    async def tell(self, session: str, frame: Frame, token: str = "") -> int:
        """Keep the next frame and return its number; 0 if the turn is another worker's by now."""
        where = [keys.chat(session), keys.chat_frames(session)]
        args: list[str | int] = [token, frame.model_dump_json(), MOST_FRAMES, _ms(KEPT)]
        number = int(await self._tell(where, args))
        await self._moved(session)
        return number

    async def end(self, session: str, turn: ChatTurn, frame: Frame, token: str = "") -> bool:
        """End a turn with its last frame; False if it has ended, or is another worker's."""
        args: list[str | int] = [
            *(turn.turn, token, turn.model_dump_json(), frame.model_dump_json()),
            *(MOST_FRAMES, MOST_TURNS, _ms(KEPT)),
        ]
        where = [keys.chat(session), keys.chat_frames(session), keys.chat_history(session)]
        number = int(await self._end(where, args))
        await self._moved(session)
        return number > 0

    async def frames(self, session: str, after: int) -> list[Frame]:
        """Return the frames after a number, the oldest first; a bounded number at a time."""
        async with translated(f"read the frames of chat {session!r}"):
            found = await self._client.zrangebyscore(
                keys.chat_frames(session), f"({after}", "+inf", start=0, num=READ_AT_ONCE
            )
        return [_frame(str(one)) for one in found]

    async def history(self, session: str) -> tuple[ChatTurn, ...]:
        """Return the turns that ended, the oldest first; only the newest are kept."""
        async with translated(f"read the history of chat {session!r}"):
            found = await self._client.lrange(keys.chat_history(session), 0, -1)
        return tuple(ChatTurn.model_validate_json(one) for one in found)

    async def cancel(self, session: str, turn: str, by: str) -> None:
        """Wish that a turn ends; whoever works on it looks for that."""
        async with translated(f"cancel a turn of chat {session!r}"):
            await self._client.hset(keys.chat(session), "cancel", f"{turn} {by}")

    async def request(self, session: str, id: str) -> None:
        """Wait for an answer to a request from now on, and for no other one; '' waits for none."""
        async with translated(f"put a request of chat {session!r}"):
            await self._client.hset(keys.chat(session), "wants", id)

    async def confirm(self, session: str, id: str, *, approved: bool) -> bool:
        """Answer a request; False if the session does not wait for that, or has heard."""
        said = "yes" if approved else "no"
        return bool(await self._confirm([keys.chat(session)], [id, said]))

    async def confirmed(self, session: str, id: str) -> bool | None:
        """Return what was said to a request; None while nothing was."""
        async with translated(f"look for an answer in chat {session!r}"):
            said = await self._client.hget(keys.chat(session), "said")
        asked, _, answer = str(said).partition(" ")
        return answer == "yes" if asked == id else None

    def now(self) -> datetime:
        """Return the time by which sessions go."""
        return self._clock.now()


def _ms(span: timedelta) -> int:
    return int(span.total_seconds() * 1000)


def _frame(kept: str) -> Frame:
    number, body = kept.split("\n", 1)
    return FRAME.validate_json(body).model_copy(update={"number": int(number)})
