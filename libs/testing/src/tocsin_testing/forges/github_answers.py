"""How a fake GitHub answers: from the least that GitHub's own description allows."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from tocsin_testing.forges.openapi import Description, Json
from tocsin_testing.forges.web import Answer, Asked

DESCRIPTION = Description.of("github-openapi.json")
SITE = "https://github.example"
DOCUMENTATION = "https://docs.github.com/rest"

Handler = Callable[..., Answer]
Route = tuple[str, str, Handler]
"""A method, a pattern of a path, and what is called with the request and the pattern's groups."""


def routed(routes: Sequence[Route], asked: Asked, path: str) -> Answer:
    """Answer by the first route that a request fits."""
    for method, pattern, handler in routes:
        found = re.fullmatch(pattern, path)
        if found and method == asked.method:
            return handler(asked, *found.groups())
    return not_found()


def shown(schema: str, status: int = 200, /, **known: Any) -> Answer:
    """Answer with one object of a schema."""
    return Answer(status, DESCRIPTION.example(schema, **known))


def refused(status: int, message: str, *errors: Json) -> Answer:
    """Answer with a reason, and with what is wrong in particular."""
    said: Json = {"message": message, "documentation_url": DOCUMENTATION}
    return Answer(status, {**said, "errors": list(errors)} if errors else said)


def not_found() -> Answer:
    """Answer that there is no such thing, or none that is shown."""
    return refused(404, "Not Found")


def page(asked: Asked, found: Iterator[Json]) -> Answer:
    """Answer with the part of a list that is asked for."""
    return Answer(200, asked.paged(list(found), "per_page", 100))


def time(at: datetime) -> str:
    """Return a time as GitHub writes it."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")
