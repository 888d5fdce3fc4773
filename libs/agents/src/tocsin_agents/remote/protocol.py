"""A question in the A2A protocol, in the form that an agent's card asks for."""

import uuid
from collections.abc import Mapping
from typing import Any

from pydantic import SecretStr

from tocsin_agents.remote.card import Card, Version

_METHODS = {
    (Version.ZERO, True): "message/stream",
    (Version.ZERO, False): "message/send",
    (Version.ONE, True): "SendStreamingMessage",
    (Version.ONE, False): "SendMessage",
}


def question(card: Card, text: str) -> Mapping[str, Any]:
    """Return the request that asks it."""
    params: dict[str, Any] = {"message": _message(card.version, text)}
    if card.version is Version.ZERO and not card.streams:
        params["configuration"] = {"blocking": True}  # else it may answer that it has begun
    method = _METHODS[card.version, card.streams]
    return {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": method, "params": params}


def headers(token: SecretStr | None, card: Card | None = None) -> dict[str, str]:
    """Return what goes with every request; nothing may come compressed, so that a bound is one."""
    said = {"Accept": "application/json, text/event-stream", "Accept-Encoding": "identity"}
    if token:
        said["Authorization"] = f"Bearer {token.get_secret_value()}"
    if card and card.version is Version.ONE:
        said["A2A-Version"] = Version.ONE.value
    return said


def _message(version: Version, text: str) -> dict[str, Any]:
    id = str(uuid.uuid4())
    if version is Version.ONE:
        return {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}
    part = {"kind": "text", "text": text}
    return {"kind": "message", "messageId": id, "role": "user", "parts": [part]}
