"""The stream of dead letters: what services have given up, each under a number of its own."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from datetime import datetime

from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.api import RawStreamMsg
from nats.js.errors import APIError, NotFoundError
from pydantic import BaseModel, ConfigDict, ValidationError

from tocsin_contracts import PREFIX, RunId
from tocsin_contracts.operations import NO_RUN, DeadLetter
from tocsin_kit import logging
from tocsin_kit.errors import TransientError
from tocsin_kit.redaction import Redactor
from tocsin_kit.topology import PARKED

LOOK_SECONDS = 2.0
AT_ONCE = 20
"""Letters that are read at the same time."""

CHATS = "chat."
PRIVATE = "What somebody said in a chat is for them alone; it can be given again all the same."

_RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

log = logging.get(__name__)


class Letter(BaseModel):
    """A letter as it is stored; the fields without a default are as old as letters are."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    service: str
    subject: str
    event_id: str
    cause: str
    tries: int = 0
    ends_run: bool = False
    whole: bool = True
    body: str
    number: int = 0
    at: datetime

    @property
    def run_id(self) -> RunId:
        """The run that it belongs to."""
        last = self.subject.rsplit(".", 1)[-1]
        return RunId(last) if _RUN_ID.fullmatch(last) else NO_RUN

    @property
    def topic(self) -> str:
        """What it tells; of a timer where it comes due, without the run."""
        return self.subject.removeprefix(f"{PREFIX}.").rpartition(".")[0]

    def shown(self, redactor: Redactor, *, body: bool = True) -> DeadLetter:
        """Return what people may see of it."""
        return DeadLetter(
            number=self.number,
            at=self.at,
            service=self.service,
            run_id=self.run_id,
            topic=self.topic,
            subject=self.subject,
            event_id=self.event_id,
            cause=redactor.text(self.cause),
            tries=self.tries,
            ended_run=self.ends_run,
            whole=self.whole,
            body=self._told(redactor) if body else "",
        )

    def _told(self, redactor: Redactor) -> str:
        return PRIVATE if self.topic.startswith(CHATS) else _masked(self.body, redactor)


class Letters:
    """Reads the stream, and takes letters out of it. TransientError if the bus does not answer."""

    def __init__(self, connect: Callable[[], Awaitable[Client]]) -> None:
        self._connect = connect

    async def numbers(self) -> list[int]:
        """Return the numbers of all letters, the newest first."""
        wish = json.dumps({"deleted_details": True}).encode()
        try:
            client = await self._connect()
            told = await client.request(f"$JS.API.STREAM.INFO.{PARKED}", wish, timeout=LOOK_SECONDS)
            state = json.loads(told.data)["state"]
        except (TimeoutError, NatsError, OSError, KeyError) as error:
            raise _silent(error) from error
        gone = frozenset(state.get("deleted") or ())
        every = range(state["last_seq"], max(state["first_seq"], 1) - 1, -1)
        return [number for number in every if number not in gone]

    async def read(self, number: int) -> Letter | None:
        """Return a letter; None if there is none, or none that this version can read."""
        try:
            js = (await self._connect()).jetstream(timeout=LOOK_SECONDS)
            return _letter(number, await js.get_msg(PARKED, number))
        except NotFoundError:
            return None
        except (TimeoutError, NatsError, OSError) as error:
            raise _silent(error) from error

    async def all(self, numbers: list[int]) -> list[Letter]:
        """Return the letters of these numbers, without those that are gone."""
        found: list[Letter | None] = []
        for start in range(0, len(numbers), AT_ONCE):
            some = numbers[start : start + AT_ONCE]
            found += await asyncio.gather(*(self.read(number) for number in some))
        return [letter for letter in found if letter]

    async def remove(self, number: int) -> None:
        """Take a letter out; one that is gone already changes nothing."""
        try:
            js = (await self._connect()).jetstream(timeout=LOOK_SECONDS)
            await js.delete_msg(PARKED, number)
        except APIError as error:
            if await self.read(number) is not None:
                raise _silent(error) from error
        except (TimeoutError, NatsError, OSError) as error:
            raise _silent(error) from error


def _letter(number: int, message: RawStreamMsg) -> Letter | None:
    try:
        told = json.loads(message.data or b"")
        return Letter.model_validate(told | {"number": number, "at": message.time})
    except (ValidationError, ValueError, TypeError) as error:
        log.warning("letters.unreadable", number=number, why=type(error).__name__)
        return None


def _masked(body: str, redactor: Redactor) -> str:
    """Return a body with secrets masked, by the names of fields too where it is JSON."""
    try:
        return json.dumps(redactor.value(json.loads(body)), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return redactor.text(body)


def _silent(error: Exception) -> TransientError:
    return TransientError(f"stream {PARKED!r}: the bus did not answer: {error!r}")
