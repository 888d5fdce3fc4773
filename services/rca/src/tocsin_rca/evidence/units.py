"""Services of nodes, such as the kubelet: what `systemctl` printed about them, and journals."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_cluster.printed import Printed
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import Observation

_LONGEST = 64_000
_UNIT = re.compile(
    r"^\W{0,4}(?P<unit>[\w@.-]{1,100}?)(?:\.service)? - "
    r"|^\W{0,4}(?P<plain>[\w@-]{1,100})\.service\b"
)
_ACTIVE = re.compile(r"^\s{0,12}Active: (?P<state>[\w-]{1,20})(?: \((?P<sub>[^)\n]{0,60})\))?")
_ASKED = re.compile(
    r"systemctl(?: -\S{1,40}){0,8} (?:status|is-active|show"
    r"|is-failed)(?P<units>(?: [\w@.:=-]{1,100}){1,8})"
)
_WORD = re.compile(r"(?m)^\s{0,4}(?P<state>active|inactive|failed|activating|deactivating)\s{0,4}$")
_DOWN = ("inactive", "failed", "deactivating", "dead", "stopped", "exited", "not running", "down")
_NAMES = ("name", "service", "unit", "component")
_STATES = ("status", "state", "active", "activeState", "ActiveState", "active_state")
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class Unit:
    """A service of a node and how it fares, as one check printed it."""

    id: str
    command: str
    name: str
    state: str

    @property
    def down(self) -> bool:
        """Whether it does not run; one that is restarted again and again does not either."""
        return self.state.startswith(_DOWN) or "auto-restart" in self.state


def units(case: Case) -> tuple[Unit, ...]:
    """Return every service of a node that a check speaks of."""
    return tuple(unit for seen in (*case.checks, *case.texts()) for unit in _units(seen))


def _units(seen: Observation[Printed]) -> Iterator[Unit]:
    command, text = seen.data.command.text, seen.data.text[:_LONGEST]
    if seen.data.data is not None:
        for name, state in _held(seen.data.data, _DEEPEST):
            yield Unit(seen.id, command, _plain(name), state.lower())
        return
    asked = _ASKED.search(command)
    names = [w for w in asked["units"].split() if not w.startswith("-")] if asked else []
    yield from (Unit(seen.id, command, _plain(n), s) for n, s in _printed(text, names))


def _printed(text: str, asked: list[str]) -> Iterator[tuple[str, str]]:
    name, found = (asked[0] if asked else ""), False
    for line in text.splitlines():
        unit, active = _UNIT.match(line), _ACTIVE.match(line)
        if unit:
            name = unit["unit"] or unit["plain"]
        if active and name:
            found = True
            sub = f" ({active['sub']})" if active["sub"] else ""
            yield name, f"{active['state']}{sub}"
    if not found:
        yield from zip(asked, (one["state"] for one in _WORD.finditer(text)), strict=False)


def _held(data: Any, depth: int) -> Iterator[tuple[str, str]]:
    if not depth:
        return
    if isinstance(data, Mapping):
        name = next((data[key] for key in _NAMES if isinstance(data.get(key), str)), None)
        state = next((data[key] for key in _STATES if isinstance(data.get(key), str)), None)
        if name and state:
            yield name, state
        for key, value in data.items():
            if isinstance(value, str) and value.lower().startswith((*_DOWN, "active", "running")):
                yield str(key), value
    for child in (
        data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    ):
        yield from _held(child, depth - 1)


def _plain(name: str) -> str:
    return name.strip().removesuffix(".service")
