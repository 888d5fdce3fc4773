"""The steps from an event to a message that was shown; each may run twice."""

from collections.abc import Sequence

from tocsin_notifier import messages
from tocsin_notifier.ports import Channel, Message, Notices
from tocsin_notifier.state import NoticeState


class Nodes:
    """The steps, with the channels and the record of what was told."""

    def __init__(self, channels: Sequence[Channel], notices: Notices) -> None:
        self._channels = channels
        self._notices = notices

    async def render(self, state: NoticeState) -> NoticeState:
        """Put the event into words."""
        message = messages.render(state["event"])
        return {"title": message.title, "text": message.text} if message else {"title": ""}

    async def deliver(self, state: NoticeState) -> NoticeState:
        """Show the message on every channel that has not shown it yet."""
        message, sent = _message(state), []
        for channel in self._channels:
            if not await self._notices.told(message.run_id, message.id, channel.name):
                await channel.send(message)
                await self._notices.settle(message.run_id, message.id, channel.name)
            sent.append(channel.name)
        return {"sent": sent}

    async def settle(self, state: NoticeState) -> NoticeState:
        """Keep the record alive with the run: a late duplicate finds it."""
        message = _message(state)
        for name in state["sent"]:
            await self._notices.settle(message.run_id, message.id, name)
        return {}


def _message(state: NoticeState) -> Message:
    event = state["event"]
    return Message(id=event.id, run_id=event.run_id, title=state["title"], text=state["text"])
