"""What agents remember beside their messages: named values in four scopes, changed by deltas."""

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from tocsin_kit.errors import PermanentError

_KEY = re.compile(r"(?:(?:app|user|run|temp):)?[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class Scope(StrEnum):
    """How far a value reaches: all runs, one person's runs, one run, or one invocation only."""

    APP = "app"
    USER = "user"
    RUN = "run"
    TEMP = "temp"


def scoped(key: str) -> str:
    """Return the key with its scope, which is the run where none is named."""
    if not _KEY.fullmatch(key):
        raise PermanentError(f"{key!r} is no key of state; say `name`, `user:name` or `temp:name`")
    return key if ":" in key else f"{Scope.RUN}:{key}"


def merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values after the changes; a change to None removes."""
    return {key: value for key, value in {**values, **changes}.items() if value is not None}


def lasting(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that may leave the invocation: all but those of `temp:`."""
    return {key: value for key, value in changes.items() if scope_of(key) is not Scope.TEMP}


def scope_of(key: str) -> Scope:
    """Return the scope of a key."""
    return Scope(scoped(key).partition(":")[0])


class State:
    """The values as they stand, and what was changed since; it holds plain JSON values only.

    Values are copied on the way in and out, so a change that is not set is not kept.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)
        self._changes: dict[str, Any] = {}

    @property
    def changes(self) -> dict[str, Any]:
        """What was set since the beginning, by scoped key; None stands for removed."""
        return dict(self._changes)

    def __contains__(self, key: str) -> bool:
        return scoped(key) in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __getitem__(self, key: str) -> Any:
        return _copied(key, self._values[scoped(key)])

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value, or the default where there is none."""
        value = self._values.get(scoped(key))
        return default if value is None else _copied(key, value)

    def __setitem__(self, key: str, value: Any) -> None:
        if value is None:
            del self[key]
            return
        self._values[scoped(key)] = self._changes[scoped(key)] = _copied(key, value)

    def __delitem__(self, key: str) -> None:
        self._values.pop(scoped(key), None)
        self._changes[scoped(key)] = None


def _copied(key: str, value: Any) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError) as error:
        raise PermanentError(f"state {key!r} cannot hold {type(value).__name__}: {error}") from None
