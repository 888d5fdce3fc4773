"""What a provider's refusal means for us: whether to ask again, and what a person can do."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from tocsin_agents.models.port import ModelAwayError, ModelRefusedError

_ADVICE: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "the key is missing or wrong: set TOCSIN_MODEL_KEYS",
    HTTPStatus.PAYMENT_REQUIRED: "the account is not paid for: look at the provider's billing",
    HTTPStatus.FORBIDDEN: "the key may not use this model: look at its permissions",
    HTTPStatus.NOT_FOUND: "the provider knows no such model: look at TOCSIN_MODEL",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "the question is too long: name a model with more room",
}
_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_EARLY}
_NO_CREDIT = "insufficient_quota"
_LONGEST_WAIT = 3600.0


@dataclass(frozen=True, slots=True)
class Failure:
    """How a call failed: the status of HTTP or 0, what was said, and the provider's own code."""

    status: int
    says: str
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    too_long: bool = False

    def error(self, model: str) -> ModelAwayError | ModelRefusedError:
        """Return the error to raise; its message is one sentence that says what to do."""
        about = f"the model {model!r}"
        if advice := self._advice():
            return ModelRefusedError(f"{about} refuses: {advice} ({self.says})")
        again = _seconds(self.headers)
        if self.status == HTTPStatus.TOO_MANY_REQUESTS:
            return ModelAwayError(f"{about} has too much to do ({self.says})", retry_in=again)
        return ModelAwayError(f"{about} did not answer ({self.says})", retry_in=again)

    def _advice(self) -> str:
        """Return what a person can do; nothing where waiting is enough."""
        if self.too_long:
            return _ADVICE[HTTPStatus.REQUEST_ENTITY_TOO_LARGE]
        if self.status == HTTPStatus.TOO_MANY_REQUESTS:
            return _ADVICE[HTTPStatus.PAYMENT_REQUIRED] if self.code == _NO_CREDIT else ""
        is_final = HTTPStatus.BAD_REQUEST <= self.status < HTTPStatus.INTERNAL_SERVER_ERROR
        if not is_final or self.status in _PASSING:
            return ""
        return _ADVICE.get(self.status, "it does not take the question")


def _seconds(headers: Mapping[str, str]) -> float:
    """Read Retry-After; its rare form, a date, counts as no wish."""
    try:
        wish = float(headers.get("retry-after", "1"))
    except ValueError:
        return 1.0
    return min(max(wish, 0.0), _LONGEST_WAIT) if math.isfinite(wish) else 1.0
