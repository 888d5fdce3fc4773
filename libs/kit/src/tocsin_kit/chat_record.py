"""One session of a chat as its record holds it, and the files that were handed over in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from redis.asyncio import Redis

from tocsin_contracts.chat import Attachment
from tocsin_kit import keys
from tocsin_kit.clock import millis
from tocsin_kit.shelf import Shelves

FILES_KEPT = timedelta(days=1)
MOST_BYTES = 16 * 1024 * 1024
"""Of the files of one session, packed; what comes after that is refused."""

_ABOUT = "about:"


@dataclass(frozen=True, slots=True)
class Session:
    """Whose a session is, its turn if one is under way, and the number of its newest frame.

    `cancelled_by` says who wishes that the turn ends.
    """

    owner: str
    turn: str
    last: int
    cancelled_by: str

    @classmethod
    def read(cls, record: Mapping[str, str], now: datetime) -> Self:
        """Read the record; a turn that takes longer than any may is none."""
        turn = record.get("turn", "")
        late = int(record.get("until", 0)) <= millis(now)
        wished, _, by = record.get("cancel", "").partition(" ")
        return cls(
            owner=record["owner"],
            turn="" if late else turn,
            last=int(record.get("last", 0)),
            cancelled_by=by if turn and wished == turn else "",
        )


class ChatFiles:
    """Files of sessions for a day; the client must not decode answers."""

    def __init__(self, client: Redis) -> None:
        self._shelves = Shelves(client, MOST_BYTES, FILES_KEPT)

    async def put(self, session: str, about: Attachment, data: bytes) -> bool:
        """Keep a file; return whether there was room."""
        shelf = keys.chat_files(session)
        told = about.model_dump_json().encode()
        if not await self._shelves.put(shelf, about.id, data):
            return False
        return await self._shelves.put(shelf, f"{_ABOUT}{about.id}", told)

    async def about(self, session: str, id: str) -> Attachment | None:
        """Return what a file is; None for one that is not kept, or not any more."""
        found = await self._shelves.get(keys.chat_files(session), f"{_ABOUT}{id}")
        return None if found is None else Attachment.model_validate_json(found)

    async def get(self, session: str, id: str) -> bytes | None:
        """Return the bytes of a file; None for one that is not kept, or not any more."""
        return await self._shelves.get(keys.chat_files(session), id)
