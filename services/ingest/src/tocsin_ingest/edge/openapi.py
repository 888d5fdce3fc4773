"""The OpenAPI document of ingest, made from the very models that are answered.

To add an endpoint, name it in OPERATIONS.
"""

import functools
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse

from tocsin_contracts.views import DeliveryReceipt, ErrorView
from tocsin_ingest.ports import AlertSource, endpoints_of
from tocsin_ingest.sources.chat import Message

Document = dict[str, Any]
_COMPONENTS = "#/components/schemas/{model}"

REFUSALS = {
    400: "The body says nothing: broken, or no JSON.",
    401: "The sender did not prove who it is.",
    403: "Known, and not allowed to do this.",
    404: "No such source; the answer names those there are.",
    405: "The path takes POST only.",
    408: "The body came too slowly.",
    413: "The body is too large, as it is or inflated.",
    415: "The body is in a coding or of a type that is not taken.",
    422: "JSON without an alert in it; the answer names the fields.",
    429: "Too many alerts of one sender: wait, and send it again.",
    503: "Our trouble, or too much at once: send it again.",
}
_WAITS = (429, 503)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One endpoint, by what it takes and what it answers when all is well.

    `body` is a JSON Schema; every name in braces of the path is a parameter.
    """

    path: str
    summary: str
    accepted: str
    answer: type[BaseModel]
    methods: tuple[str, ...] = ("POST",)
    body: Document = field(default_factory=dict)
    refusals: tuple[int, ...] = tuple(REFUSALS)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        path="/webhook/{source}",
        summary="Take the alerts of one request of a sender.",
        accepted="Every alert is stored; each has its receipt.",
        answer=DeliveryReceipt,
    ),
    Operation(
        path="/webhook/{source}/{instance}",
        summary="The same, of one of several senders of a kind.",
        accepted="Every alert is stored; each has its receipt.",
        answer=DeliveryReceipt,
    ),
    Operation(
        path="/chat",
        summary="Take what a person says is wrong; `Idempotency-Key` makes it one alert.",
        accepted="It is stored; its run is named.",
        answer=DeliveryReceipt,
        body=Message.model_json_schema(),
    ),
    Operation(
        path="/forge/{forge}",
        summary="Take a webhook of github, gitlab or gitea about a pull request.",
        accepted="It is stored, with the run of its pull request; or it says nothing to us.",
        answer=DeliveryReceipt,
    ),
)


def document(sources: Sequence[AlertSource]) -> Document:
    """Return the document; the names of the sources are those that a path may have."""
    names, operations = [source.name for source in sources], operations_of(sources)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tocsin ingest", "version": "1"},
        "paths": {
            one.path: {method.lower(): _described(one, names) for method in one.methods}
            for one in operations
        },
        "components": {
            "schemas": _answers(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def operations_of(sources: Sequence[AlertSource]) -> list[Operation]:
    """Return every endpoint: those of all sources, and those that a source has besides."""
    further = (
        Operation(
            path=f"/webhook/{source.name}/{one.path}",
            methods=one.methods,
            summary=f"The same, where senders that know {source.name} send it.",
            accepted="Every alert is stored; each has its receipt.",
            answer=DeliveryReceipt,
        )
        for source in sources
        for one in endpoints_of(source)
    )
    return [*OPERATIONS, *further]


@functools.cache
def _answers() -> Document:
    models = {operation.answer for operation in OPERATIONS} | {ErrorView}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "serialization") for model in ordered], ref_template=_COMPONENTS
    )
    answers: Document = schemas["$defs"]
    return answers


def endpoint(described: Document) -> Callable[[Request], Coroutine[Any, Any, JSONResponse]]:
    """Return what answers GET with the document."""

    async def answer(request: Request) -> JSONResponse:
        del request
        return JSONResponse(described)

    return answer


def _described(operation: Operation, sources: Sequence[str]) -> Document:
    refusals = {str(status): _refusal(status) for status in operation.refusals}
    return {
        "summary": operation.summary,
        "parameters": [_parameter(name, sources) for name in _names(operation.path)],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": operation.body}},
        },
        "responses": {
            "202": {"description": operation.accepted, "content": _json(operation.answer)},
            **refusals,
        },
    }


def _refusal(status: int) -> Document:
    described: Document = {"description": REFUSALS[status], "content": _json(ErrorView)}
    if status in _WAITS:
        described["headers"] = {
            "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}
        }
    return described


def _json(model: type[BaseModel]) -> Document:
    schema = {"$ref": _COMPONENTS.format(model=model.__name__)}
    return {"application/json": {"schema": schema}}


def _names(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def _parameter(name: str, sources: Sequence[str]) -> Document:
    schema: Document = {"type": "string", "pattern": "^[A-Za-z0-9_.-]+$"}
    if name == "source":
        schema = {"type": "string", "enum": list(sources)}
    return {"name": name, "in": "path", "required": True, "schema": schema}
