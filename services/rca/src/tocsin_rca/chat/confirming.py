"""Ask the person who chats before more is done than to look; silence is a no."""

import asyncio
from datetime import timedelta

from tocsin_agents.tools.wrappers.approval import CallDecision, CallToApprove
from tocsin_contracts.chat_frames import ConfirmationRequestFrame
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import line
from tocsin_rca.chat.ports import Chats
from tocsin_rca.chat.turn import Turn
from tocsin_rca.investigation.gathering import rendered

PATIENCE = timedelta(seconds=120)
LOOK_SECONDS = 0.3
MOST_TOLD = 1000


class Confirming:
    """Asks in the chat itself; only whoever owns the session can answer there."""

    def __init__(
        self,
        chats: Chats,
        turn: Turn,
        redactor: Redactor,
        patience: timedelta = PATIENCE,
        every: float = LOOK_SECONDS,
    ) -> None:
        self._chats = chats
        self._turn = turn
        self._redactor = redactor
        self._patience = patience
        self._every = every

    async def decide(self, call: CallToApprove) -> CallDecision:
        """Wait for a yes or a no to exactly this call; no once the time is over."""
        id, session = call.hash[:32], self._turn.session
        until = self._chats.now() + self._patience
        await self._chats.request(session, id)
        told = line(self._redactor.text(rendered(call.arguments)), MOST_TOLD)
        request = ConfirmationRequestFrame(
            **self._turn.head, id=id, tool=call.tool, arguments=told, until=until
        )
        await self._turn.say(request)
        said = await self._chats.confirmed(session, id)
        while said is None and self._chats.now() < until and not self._turn.cancel.requested:
            await asyncio.sleep(self._every)
            said = await self._chats.confirmed(session, id)
        await self._chats.request(session, "")
        why = "nobody answered in time" if said is None else ""
        return CallDecision(hash=call.hash, approved=bool(said), by=call.who, why=why)
