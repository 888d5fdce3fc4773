"""The steps from an event to a message that was shown; each may run twice."""

from collections.abc import Sequence

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_notifier import messages
from tocsin_notifier.ports import Channel, Message, Notices
from tocsin_notifier.state import NoticeState


class Nodes:
    """The steps, with the channels and the record of what was told."""

    def __init__(self, channels: Sequence[Channel], notices: Notices) -> None:
        self._channels = {channel.name: channel for channel in channels}
        self._notices = notices

    async def render(self, state: NoticeState) -> NoticeState:
        """Put the event into words, for every channel that has not shown it yet."""
        event = state["event"]
        message = messages.render(event)
        if message is None:
            return {"waiting": [], "failed": []}
        waiting = [
            name
            for name in self._channels
            if not await self._notices.told(event.run_id, event.id, name)
        ]
        return {"title": message.title, "text": message.text, "waiting": waiting, "failed": []}

    async def deliver(self, state: NoticeState) -> NoticeState:
        """Show the message on the first channel that takes it.

        One that cannot now, or never will, must not silence the others.
        """
        event = state["event"]
        message = Message(event.id, event.run_id, state["title"], state["text"], event)
        late: list[TransientError] = []
        for name in state["waiting"]:
            try:
                await self._channels[name].send(message)
            except PermanentError as error:
                return {"shown": name, "failed": [*state["failed"], str(error)]}
            except TransientError as error:
                late.append(error)
            else:
                return {"shown": name}
        raise min(late, key=lambda error: error.retry_in)

    async def settle(self, state: NoticeState) -> NoticeState:
        """Remember that the channel is done with it; the next one follows."""
        event, shown = state["event"], state["shown"]
        await self._notices.settle(event.run_id, event.id, shown)
        return {"waiting": [name for name in state["waiting"] if name != shown]}
