"""What happened in a fake Slack: its channels, who heard what, and how its calls answer."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import time
from typing import Any

from tocsin_testing.slack import limits

TOKEN, APP_TOKEN, SECRET = "xoxb-fake", "xapp-fake", "s3cr3t-slack"
CHANNEL, TEAM, APP = "C0001", "T0001", "A0001"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fault:
    """How one call goes wrong; with `lost` it is done and its answer never comes."""

    error: str = ""
    status: int = 200
    retry_after: str = ""
    lost: bool = False


def rate_limited(seconds: int) -> Fault:
    """Return a fault: the caller has to wait."""
    return Fault("ratelimited", 429, str(seconds))


@dataclass
class World:
    """One workspace. `faults` of a method happen to its next calls, the first one first."""

    messages: list[Json] = field(default_factory=list)
    whispers: list[Json] = field(default_factory=list)
    windows: list[Json] = field(default_factory=list)
    calls: list[tuple[str, Json]] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=lambda: defaultdict(list))
    scopes: str = "chat:write,channels:history"
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    def answer(self, method: str, body: Json) -> Json:
        """Do what a call asks for."""
        self.calls.append((method, body))
        kinds: Mapping[str, Callable[[Json], Json]] = {
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "chat.postEphemeral": self._whisper,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
            "views.open": self._open,
            "auth.test": lambda _: {"ok": True, "user": "tocsin", "team": "Shop"},
        }
        kind = kinds.get(method)
        return kind(body) if kind else _no("unknown_method")

    async def told(self) -> None:
        """Wake whoever waits for news."""
        async with self._news:
            self._news.notify_all()

    async def news(self) -> None:
        """Return once something happened after this call."""
        async with self._news:
            await self._news.wait()

    def called(self, method: str) -> list[Json]:
        """Return what a method was called with."""
        return [body for name, body in self.calls if name == method]

    @property
    def parents(self) -> list[Json]:
        """The messages that are no replies."""
        return [one for one in self.messages if "thread_ts" not in one]

    @property
    def replies(self) -> list[Json]:
        """The messages in threads."""
        return [one for one in self.messages if "thread_ts" in one]

    def _post(self, body: Json) -> Json:
        if error := limits.refusal(body):
            return _no(error)
        ts = f"{time() + len(self.messages):.6f}"
        self.messages.append({**body, "ts": ts, "edits": 0})
        return {"ok": True, "channel": body["channel"], "ts": ts}

    def _update(self, body: Json) -> Json:
        if error := limits.refusal(body):
            return _no(error)
        found = [m for m in self.messages if (m["channel"], m["ts"]) == _at(body)]
        if not found:
            return _no("message_not_found")
        found[0].update(body, edits=found[0]["edits"] + 1)
        return {"ok": True, "channel": body["channel"], "ts": body["ts"]}

    def _whisper(self, body: Json) -> Json:
        self.whispers.append(body)
        return {"ok": True, "message_ts": f"{time():.6f}"}

    def _history(self, body: Json) -> Json:
        oldest = float(body.get("oldest", 0))
        return self._page(body, [m for m in self.parents if float(m["ts"]) >= oldest])

    def _replies(self, body: Json) -> Json:
        return self._page(body, [m for m in self.messages if m.get("thread_ts") == body["ts"]])

    def _page(self, body: Json, found: list[Json]) -> Json:
        inside = [m for m in found if m["channel"] == body["channel"]][::-1]
        first, size = int(body.get("cursor") or 0), int(body.get("limit", 100))
        more = str(first + size) if len(inside) > first + size else ""
        page = inside[first : first + size]
        if body.get("include_all_metadata") != "true":
            page = [{k: v for k, v in m.items() if k != "metadata"} for m in page]
        return {"ok": True, "messages": page, "response_metadata": {"next_cursor": more}}

    def _open(self, body: Json) -> Json:
        if any(limits.wrong_view(body["view"])):
            return _no("invalid_arguments")
        self.windows.append(body)
        return {"ok": True}


def _at(body: Json) -> tuple[str, str]:
    return body["channel"], body["ts"]


def _no(error: str) -> Json:
    return {"ok": False, "error": error}
