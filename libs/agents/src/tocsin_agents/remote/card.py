"""What an external agent says about itself, read with care: its card in the A2A protocol."""

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from tocsin_contracts.base import Value
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line

PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Where a card lies: since version 0.3, and before."""

_SKILL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_MOST_SKILLS = 20
_JSON_RPC = "JSONRPC"


class Version(StrEnum):
    """The forms of the protocol that we speak."""

    ZERO = "0.3"
    ONE = "1.0"


class Skill(Value):
    """Something that the agent says it can do; the words are its own, cleaned and short."""

    id: str
    about: str = ""


class Card(Value):
    """Who the agent is, where it listens, how it speaks, and what it says it can do."""

    name: str
    about: str = ""
    url: str
    version: Version = Version.ZERO
    streams: bool = False
    skills: tuple[Skill, ...] = ()


def read(body: bytes) -> Card:
    """Return the card in a body; PermanentError if it is none, or speaks nothing that we do.

    Skills with names that no tool could have are left out.
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise PermanentError(f"the card is no JSON: {error}") from error
    if not isinstance(said, dict) or not isinstance(said.get("name"), str):
        raise PermanentError("the card does not say what its agent is called")
    url, version = _interface(said)
    capabilities = said.get("capabilities")
    return Card(
        name=line(said["name"], 80),
        about=line(str(said.get("description") or ""), 500),
        url=url,
        version=version,
        streams=isinstance(capabilities, dict) and capabilities.get("streaming") is True,
        skills=tuple(_skills(said.get("skills"))),
    )


def _interface(said: Mapping[str, Any]) -> tuple[str, Version]:
    found = [*_interfaces_of_one(said), *_interfaces_of_zero(said)]
    if not found:
        raise PermanentError("the card names no address that speaks JSON-RPC")
    return found[0]


def _interfaces_of_one(said: Mapping[str, Any]) -> Iterator[tuple[str, Version]]:
    for one in _objects(said.get("supportedInterfaces")):
        if one.get("protocolBinding") == _JSON_RPC and isinstance(one.get("url"), str):
            old = str(one.get("protocolVersion", "")).startswith("0.")
            yield one["url"], Version.ZERO if old else Version.ONE


def _interfaces_of_zero(said: Mapping[str, Any]) -> Iterator[tuple[str, Version]]:
    main = {"url": said.get("url"), "transport": said.get("preferredTransport", _JSON_RPC)}
    for one in (main, *_objects(said.get("additionalInterfaces"))):
        if one.get("transport") == _JSON_RPC and isinstance(one.get("url"), str):
            yield one["url"], Version.ZERO


def _skills(said: Any) -> Iterator[Skill]:
    for one in _objects(said)[:_MOST_SKILLS]:
        if isinstance(one.get("id"), str) and _SKILL.fullmatch(one["id"]):
            yield Skill(id=one["id"], about=line(str(one.get("description") or ""), 200))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
