"""The steps from an event to a message that was shown; each may run twice."""

from collections.abc import Sequence

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.timers import Timer
from tocsin_kit.topology import TimerKind
from tocsin_notifier import messages
from tocsin_notifier.addressing import Addressed, Addressing
from tocsin_notifier.ports import Channel, Message, Notices, Runs, Timers
from tocsin_notifier.state import NoticeState


class Nodes:
    """The steps, with the channels, the runs and the record of what was told.

    `public_url` is where people reach the console; messages link to it.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        addressing: Addressing,
        *,
        runs: Runs,
        notices: Notices,
        timers: Timers,
        public_url: str = "",
    ) -> None:
        self._channels = {channel.name: channel for channel in channels}
        self._addressing = addressing
        self._runs = runs
        self._notices = notices
        self._timers = timers
        self._public_url = public_url.rstrip("/")

    async def render(self, state: NoticeState) -> NoticeState:
        """Put the event into words, and say which channels show it now and which hold it."""
        event = state["event"]
        run = await self._runs.get(event.run_id)
        message = messages.render(event, run)
        if message is None:
            return {"waiting": [], "held": [], "failed": []}
        told = await self._notices.of(event.run_id)
        if "to" in state:
            addressed = Addressed(tuple(n for n in state["to"] if not told.has(n, event.id)))
        else:
            addressed = self._addressing.of(event, run, told)
        return {
            "title": message.title,
            "text": message.text,
            "waiting": [name for name in addressed.now if name in self._channels],
            "held": [name for name in addressed.held if name in self._channels],
            "until": addressed.until,
            "failed": [],
        }

    async def hold(self, state: NoticeState) -> NoticeState:
        """Write down what waits, and be woken when quiet hours end: that outlives this process."""
        event, until = state["event"], state.get("until")
        if until is None or not state["held"]:
            return {}
        for name in state["held"]:
            await self._notices.hold(event.run_id, event.id, name)
        await self._timers.set_timer(
            Timer(kind=TimerKind.QUIET_END, run_id=event.run_id, due_at=until)
        )
        return {}

    async def deliver(self, state: NoticeState) -> NoticeState:
        """Show the message on the first channel that takes it.

        One that cannot now, or never will, must not silence the others.
        """
        event = state["event"]
        link = f"{self._public_url}/runs/{event.run_id}" if self._public_url else ""
        message = Message(event.id, event.run_id, state["title"], state["text"], event, link)
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
