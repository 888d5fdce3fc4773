"""The chat as the gateway has it: its routes over the store and the bus."""

from fastapi import APIRouter

from tocsin_contracts.live import ChatMoved
from tocsin_gateway.chat import routes
from tocsin_gateway.chat.rooms import Rooms
from tocsin_gateway.chat.seats import Seats
from tocsin_kit.chat_record import ChatFiles
from tocsin_kit.chats import Chats
from tocsin_kit.nudges import Nudges
from tocsin_kit.parts import Parts


def wired(parts: Parts) -> APIRouter:
    """Return the routes of the chat."""

    async def moved(session: str) -> None:
        await parts.bus.tell(ChatMoved(run_id=session, agent="chat"))

    chats, files = Chats(parts.redis, moved), ChatFiles(parts.raw_redis)
    rooms, seats = Rooms(chats, files, parts.bus, Nudges.of(parts.bus)), Seats()
    every = APIRouter()
    for router in (
        routes.socket(rooms, seats),
        routes.streams(rooms, seats),
        routes.sessions(rooms),
    ):
        every.include_router(router)
    return every
