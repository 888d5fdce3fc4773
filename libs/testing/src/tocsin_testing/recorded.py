"""Backends that answer as their makers document it: recorded questions, each with its answer."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import httpx

from tocsin_contracts import Value

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
"""What the clock shows while they are asked."""


class Exchange(Value):
    """One request that a tool makes, exactly, and what it is answered."""

    method: str = "GET"
    path: str
    params: Mapping[str, str | Sequence[str]] = {}
    body: Any = None
    answer: Any = None


class Use(Value):
    """One call of a tool, and what it asks for it."""

    tool: str
    arguments: Mapping[str, Any] = {}
    exchanges: tuple[Exchange, ...]


class Recording(Value):
    """A backend of one type: how it is configured, and how its tools are used.

    The data is made up, in the shape that `documented` describes.
    """

    documented: str
    options: Mapping[str, Any]
    uses: tuple[Use, ...]


def names() -> list[str]:
    """Return every type that there is a recording of."""
    folder = files("tocsin_testing") / "backends"
    return sorted(one.name.removesuffix(".json") for one in folder.iterdir())


def recording(name: str) -> Recording:
    """Return the recording of one type."""
    file = files("tocsin_testing") / "backends" / f"{name}.json"
    return Recording.model_validate_json(file.read_text(encoding="utf-8"))


def replaying(use: Use, base: str) -> httpx.MockTransport:
    """Return what answers one use, in its order; another request is an AssertionError."""
    waiting = list(use.exchanges)

    def answer(request: httpx.Request) -> httpx.Response:
        expected = waiting.pop(0)
        asked = Exchange(
            method=request.method,
            path=request.url.path.removeprefix(httpx.URL(base).path.rstrip("/")),
            params=_params(request.url.params),
            body=_body(request),
            answer=expected.answer,
        )
        assert asked.model_dump() == expected.model_dump(), f"{asked} is not {expected}"
        if isinstance(expected.answer, str):
            return httpx.Response(200, text=expected.answer)
        return httpx.Response(200, json=expected.answer)

    return httpx.MockTransport(answer)


def _params(params: httpx.QueryParams) -> dict[str, str | list[str]]:
    given = {name: params.get_list(name) for name in params}
    return {name: texts if len(texts) > 1 else texts[0] for name, texts in given.items()}


def _body(request: httpx.Request) -> Any:
    if not request.content:
        return None
    if request.headers["content-type"].startswith("application/json"):
        return json.loads(request.content)
    return _params(httpx.QueryParams(request.content.decode()))
