"""Slack's Web API: the few calls that we make, each with an error that says what to do about it."""

import asyncio
import hashlib
import logging as standard
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from types import TracebackType
from typing import Any, Self

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from tocsin_kit import logging
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_notifier.channels.slack.blocks import Shown

SECONDS = 8
LATER = 60.0
"""Seconds until a call is tried again that an operator has to make possible first."""

SOON = 5.0
LONGEST_REST = 3600.0
TOO_MANY, BROKEN = 429, 500
EVENT_TYPE = "tocsin_message"
PAGE, MOST_PAGES = 200, 5
SLACK = timedelta(seconds=60)
"""How far the clocks of Slack and of this machine may be apart."""

UNREADABLE = frozenset(
    (
        "invalid_arguments",
        "invalid_blocks",
        "invalid_blocks_format",
        "msg_blocks_too_long",
        "msg_too_long",
        "no_text",
    )
)
GONE = frozenset(("message_not_found", "cant_update_message", "thread_not_found"))
BLIND = frozenset(("missing_scope", "not_allowed_token_type", "not_in_channel"))

log = logging.get(__name__)


class UnreadableError(PermanentError):
    """Slack does not take what was written; other words may do."""


class GoneError(PermanentError):
    """The message does not stand where it was."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message stands."""

    channel: str
    ts: str


class Web:
    """Calls Slack with the token of the app; nothing is tried again here.

    After Slack said to wait, the same call is not made before the time is over. No error holds a
    token or a message. While it is open, connections are kept between calls.
    """

    def __init__(self, token: str, api_url: str) -> None:
        self.client = AsyncWebClient(
            token=token,
            base_url=f"{api_url.rstrip('/')}/",
            timeout=SECONDS,
            retry_handlers=[],
            logger=_quiet(),
        )
        self._resting: dict[str, float] = {}

    async def __aenter__(self) -> Self:
        """Begin to keep connections."""
        self.client.session = aiohttp.ClientSession()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close them."""
        session, self.client.session = self.client.session, None
        if session:
            await session.close()

    async def post(self, place: Place, shown: Shown, key: str, *, loud: bool = False) -> Place:
        """Post a message, or a reply if the place has a message; `key` finds it again."""
        thread = {"thread_ts": place.ts, "reply_broadcast": loud} if place.ts else {}
        unfolded = {"unfurl_links": False, "unfurl_media": False}
        body = {**_body(place.channel, shown, key), **unfolded, **thread}
        answer = await self._call("chat.postMessage", body)
        return Place(str(answer["channel"]), str(answer["ts"]))

    async def update(self, place: Place, shown: Shown, key: str) -> None:
        """Put other words in the place of a message."""
        await self._call("chat.update", {**_body(place.channel, shown, key), "ts": place.ts})

    async def find(self, place: Place, key: str, since: datetime) -> str:
        """Return the ts of what was posted with a key; empty if it does not stand there.

        An app that may not read the channel finds nothing.
        """
        method = "conversations.replies" if place.ts else "conversations.history"
        asked: dict[str, Any] = {
            "channel": place.channel,
            "limit": PAGE,
            "include_all_metadata": True,
            **({"ts": place.ts} if place.ts else {"oldest": f"{(since - SLACK).timestamp():.6f}"}),
        }
        for _ in range(MOST_PAGES):
            answer = await self._looked(method, asked)
            for message in answer.get("messages", ()):
                if _key(message) == _digest(key):
                    return str(message["ts"])
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
            asked["cursor"] = cursor
        return ""

    async def whisper(self, channel: str, user: str, text: str) -> None:
        """Say something that only one person sees."""
        await self._call("chat.postEphemeral", {"channel": channel, "user": user, "text": text})

    async def open_window(self, trigger_id: str, view: Mapping[str, Any]) -> None:
        """Open a window for the person who just clicked."""
        await self._call("views.open", {"trigger_id": trigger_id, "view": view})

    async def _looked(self, method: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return await self._call(method, asked, in_address=True)
        except _BlindError:
            log.warning("slack.cannot_look", why="a message may be shown twice after a crash")
            return {}

    async def _call(
        self, method: str, body: Mapping[str, Any], *, in_address: bool = False
    ) -> Mapping[str, Any]:
        rest = self._resting.get(method, 0.0) - monotonic()
        if rest > 0:
            raise TransientError(f"slack channel: {method} has to wait", retry_in=rest)
        given: dict[str, Any] = {"json": dict(body)}
        if in_address:
            given = {"http_verb": "GET", "params": _flat(body)}
        try:
            async with asyncio.timeout(SECONDS):
                answer = await self.client.api_call(method, **given)
        except SlackApiError as error:
            raise self._refused(method, error) from None
        except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
            kind = type(error).__name__
            raise TransientError(f"slack channel: {method}: no answer ({kind})") from None
        return answer.data if isinstance(answer.data, dict) else {}

    def _refused(self, method: str, error: SlackApiError) -> TransientError | PermanentError:
        answer = error.response
        status = int(getattr(answer, "status_code", 0) or 0)
        said = str((getattr(answer, "data", None) or {}).get("error") or f"status {status}")
        told = f"slack channel: {method}: {said}"
        if said == "ratelimited" or status == TOO_MANY:
            seconds = _seconds(answer.headers)
            self._resting[method] = monotonic() + seconds
            return TransientError(told, retry_in=seconds)
        for kinds, kind in ((UNREADABLE, UnreadableError), (GONE, GoneError), (BLIND, _BlindError)):
            if said in kinds:
                return kind(told)
        return TransientError(told, retry_in=SOON if status >= BROKEN else LATER)


class _BlindError(TransientError):
    """The app may not do what it was asked to; an operator can change that."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message}; see docs/slack.md", retry_in=LATER)


def _body(channel: str, shown: Shown, key: str) -> dict[str, Any]:
    return {
        "channel": channel,
        "text": shown.text,
        "blocks": list(shown.blocks),
        "metadata": {"event_type": EVENT_TYPE, "event_payload": {"key": _digest(key)}},
    }


def _flat(body: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: str(value).lower() if value is True else str(value) for name, value in body.items()
    }


def _digest(key: str) -> str:
    """A key is made of labels, which are nobody's business in a chat."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _key(message: Mapping[str, Any]) -> str:
    metadata = message.get("metadata") or {}
    ours = metadata.get("event_type") == EVENT_TYPE
    return str((metadata.get("event_payload") or {}).get("key", "")) if ours else ""


def _seconds(headers: Mapping[str, str]) -> float:
    given = next((v for name, v in headers.items() if name.lower() == "retry-after"), "")
    return min(float(given), LONGEST_REST) if given.isdecimal() else LATER


def _quiet() -> standard.Logger:
    """The library logs what it sends and addresses with tickets in them: nobody's business."""
    quiet = standard.getLogger("tocsin.slack")
    quiet.setLevel(standard.CRITICAL)
    return quiet
