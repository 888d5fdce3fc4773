"""What the refusals of forges mean: ask again, and when; or a person has to mend something."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from tocsin_kit.errors import PermanentError, TocsinError, TransientError
from tocsin_kit.redaction import Redactor
from tocsin_kit.untrusted import line

MOST_SAID = 500
SHORTEST_WAIT, USUAL_WAIT, LIMIT_WAIT, LONGEST_WAIT = 1.0, 5.0, 60.0, 3600.0
"""In seconds: any wait, that of a host that is away, of a rate limit that names none, and any."""

_LIMITED = ("rate limit", "abuse detection")
_NOT_TAKEN = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_UNDECIDED = (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)
_RESETS = ("x-ratelimit-reset", "ratelimit-reset")
_REMAINING = ("x-ratelimit-remaining", "ratelimit-remaining")


class NotFoundError(PermanentError):
    """There is no such thing, or the token may not see it."""


class ConflictError(PermanentError):
    """The host refuses the content (422) or what it meets there (409); `said` is its reason."""

    def __init__(self, message: str, status: int, said: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = said


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is no success; `asked` names the request without its query.

    `headers` are found by small letters, as those of httpx are; `said` is the host's reason.
    """

    asked: str
    status: int
    headers: Mapping[str, str]
    said: str

    @property
    def in_words(self) -> str:
        """What was asked and what the answer was."""
        return f"{self.asked}: {self.status} {self.said}".rstrip()


def meaning(refusal: Refusal, needs: str, now: datetime) -> TocsinError:
    """Return the error that a refusal is; `needs` says what the token must allow."""
    status, wait = refusal.status, _wait(refusal.headers, now)
    if status == HTTPStatus.TOO_MANY_REQUESTS or _is_limit(refusal):
        return TransientError(refusal.in_words, retry_in=_bounded(wait or LIMIT_WAIT))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
        return TransientError(refusal.in_words, retry_in=_bounded(wait or USUAL_WAIT))
    if status in _UNDECIDED:
        return ConflictError(refusal.in_words, status, refusal.said)
    return _lasting(status, refusal.in_words, needs)


def said(body: bytes, redactor: Redactor) -> str:
    """Return the reason that a body gives, on one line; empty for a body that is no JSON.

    Secrets go before it is cut, for nobody recognises a part of one.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return line(redactor.text("; ".join(_reasons(content))), MOST_SAID)


def _lasting(status: int, answers: str, needs: str) -> PermanentError:
    if status in _NOT_TAKEN:
        return PermanentError(f"{answers}; {needs}")
    if status == HTTPStatus.NOT_FOUND:
        return NotFoundError(f"{answers}; it is not there, or hidden: {needs}")
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return PermanentError(f"{answers}; it has moved: use its new name in gitops.yaml")
    return PermanentError(answers)


def _is_limit(refusal: Refusal) -> bool:
    """Whether a 403 only asks for patience."""
    if refusal.status != HTTPStatus.FORBIDDEN:
        return False
    headers, said = refusal.headers, refusal.said.lower()
    used_up = any(headers.get(name) == "0" for name in _REMAINING)
    return used_up or "retry-after" in headers or any(word in said for word in _LIMITED)


def _wait(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return the seconds that the host asks for, if it does."""
    after = headers.get("retry-after", "").strip()
    if after.isdecimal():
        return float(after[:9])
    try:
        return (_aware(parsedate_to_datetime(after)) - now).total_seconds()
    except (ValueError, OverflowError):
        return _until_reset(headers, now)


def _until_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    if not any(headers.get(name) == "0" for name in _REMAINING):
        return None
    resets = (headers.get(name, "") for name in _RESETS)
    seconds = next((reset for reset in resets if reset.isdecimal()), None)
    return None if seconds is None else float(seconds[:12]) - now.timestamp()


def _aware(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _bounded(seconds: float) -> float:
    return min(max(seconds, SHORTEST_WAIT), LONGEST_WAIT)


def _reasons(content: Any) -> Iterator[str]:
    """GitHub says `message` and `errors`, Gitea `message`, GitLab also `error` and lists by key."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for one in content:
            yield from _reasons(one)
    elif isinstance(content, dict):
        if "code" in content and "message" not in content:
            yield f"{content.get('field')} is {content['code']}"
            return
        told = [content[key] for key in ("message", "error", "errors") if key in content]
        for one in told or content.values():
            yield from _reasons(one)
