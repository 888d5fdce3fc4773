"""What Slack tells of messages, as far as we look at it; the same by HTTP and by socket."""

import html
import re
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from tocsin_kit.errors import PermanentError
from tocsin_notifier.channels.slack.payloads import Id

_MENTION = re.compile(r"<@[A-Z0-9]{1,30}(\|[^>]{0,100})?>")
_LONGEST = 40_000

Ts = Annotated[str, Field(pattern=r"^[0-9]{1,12}\.[0-9]{1,8}$|^$")]


class Said(BaseModel):
    """A message that somebody wrote."""

    type: str = ""
    subtype: str = ""
    user: Id = ""
    bot_id: Id = ""
    team: Id = ""
    text: str = Field(default="", max_length=_LONGEST)
    channel: Id = ""
    ts: Ts = ""
    thread_ts: Ts = ""

    @property
    def is_a_question(self) -> bool:
        """Whether a person wrote it in a thread; whatever a bot writes is none, ours first."""
        written = self.type in ("app_mention", "message") and not self.subtype
        return bool(written and self.user and not self.bot_id and self.ts and self.thread_ts)

    @property
    def words(self) -> str:
        """What was written, without the names of those it calls."""
        return html.unescape(_MENTION.sub("", self.text)).strip()


class Told(BaseModel):
    """One delivery of an event, or the question whether this address is ours."""

    type: str
    challenge: str = Field(default="", max_length=500)
    team_id: Id = ""
    api_app_id: Id = ""
    event: Said = Said()


def read(text: str | bytes) -> Told:
    """Return what is told; PermanentError for what is no event."""
    try:
        return Told.model_validate_json(text)
    except ValidationError as error:
        raise PermanentError(f"slack: an event with {error.error_count()} fault(s)") from None
