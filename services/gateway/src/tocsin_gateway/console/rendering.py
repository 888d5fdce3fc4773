"""Templates into answers: every text is escaped, and nothing in it is invisible."""

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from tocsin_contracts.roles import Role
from tocsin_gateway.console import amending, wording
from tocsin_gateway.console.sessions import Session
from tocsin_kit.clock import Clock, SystemClock

STATIC = {
    "console.css": "text/css",
    "console.js": "text/javascript",
    "theme.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
PAGES = (
    ("i", "/", "Inbox"),
    ("r", "/runs", "Runs"),
    ("l", "/feed", "Live"),
    ("d", "/dead-letters", "Dead letters"),
    ("s", "/services", "Services"),
    ("a", "/audit", "Audit"),
    ("c", "/cost", "Cost"),
)
"""The pages of the console, with the key that leads to each after a `g`."""

FILTERS: tuple[Callable[..., Any], ...] = (
    wording.tone,
    wording.name,
    wording.when,
    wording.day,
    wording.clock,
    wording.money,
    wording.span,
    wording.seconds,
    wording.link,
    wording.change,
    wording.size,
    wording.path,
    wording.place,
)


class Renderer:
    """Makes pages; `now` of a page is the time at which it was made."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def page(
        self,
        template: str,
        *,
        session: Session | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        **told: Any,
    ) -> HTMLResponse:
        """Return a page for somebody, or for a stranger."""
        text = (
            _environment()
            .get_template(template)
            .render(session=session, now=self._clock.now(), **told)
        )
        return HTMLResponse(text, status, headers=headers)


@cache
def _environment() -> Environment:
    """Return what every page is made with: each template is read once."""
    made = Environment(
        loader=PackageLoader("tocsin_gateway.console"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=wording.shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {one.__name__: one for one in FILTERS}
    made.globals |= {
        "asset": asset,
        "pages_of_the_console": PAGES,
        "roles": Role,
        "value_fields": amending.fields,
    }
    return made


@cache
def content(name: str) -> bytes:
    """Return a file that every page may ask for."""
    return files("tocsin_gateway.console").joinpath("static", name).read_bytes()


@cache
def asset(name: str) -> str:
    """Return the address of such a file, a new one whenever it changes."""
    return f"/static/{name}?v={hashlib.sha256(content(name)).hexdigest()[:12]}"
