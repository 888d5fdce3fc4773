"""The arguments of a call as one text, so that what was asked for is what is done."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tocsin_kit.errors import PermanentError


def canonical(data: Any) -> str:
    """Return JSON that is the same for equal data; PermanentError for what JSON cannot say."""
    try:
        return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise PermanentError(f"the arguments are not JSON: {error}; send plain values") from error


def frozen(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of the arguments that nobody else holds."""
    copy: dict[str, Any] = json.loads(canonical(dict(arguments)))
    return copy


def call_hash(tool: str, arguments: Mapping[str, Any], who: str) -> str:
    """Return the hash of one call: of the tool, of what it is given, and of whom it is for."""
    return hashlib.sha256(canonical([tool, dict(arguments), who]).encode()).hexdigest()
