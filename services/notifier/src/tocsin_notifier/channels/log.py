"""Messages as log lines: the channel that always works."""

from tocsin_kit import logging
from tocsin_notifier.ports import Message

log = logging.get(__name__)


class LogChannel:
    """Writes each message to the service's log."""

    name = "log"

    async def send(self, message: Message) -> None:
        """Show the message."""
        where = {"link": message.link} if message.link else {}
        log.info("notifier.message", title=message.title, text=message.text, **where)
