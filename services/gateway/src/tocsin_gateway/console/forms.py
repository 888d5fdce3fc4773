"""What a form sends, and whether it is one of ours."""

import asyncio
import re
from collections.abc import Mapping
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request

from tocsin_gateway.console.sessions import same
from tocsin_gateway.guard import bounded
from tocsin_gateway.refusals import RefusedError

MOST_FIELDS = 20
MOST_REASON = 1000
READ_SECONDS = 2.0


async def read(request: Request) -> dict[str, str]:
    """Return the fields of a form by name; RefusedError if it is none that we could have made."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            body = await Request(request.scope, bounded(request.receive)).body()
    except (TimeoutError, ClientDisconnect):
        raise RefusedError(408, "the form did not come in time", "send it again") from None
    try:
        fields = parse_qs(
            body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, strict_parsing=True
        )
    except ValueError:
        raise RefusedError(400, "this is no form of the console", "open the page again") from None
    return {name: values[-1] for name, values in fields.items()}


def check(fields: dict[str, str], csrf: str) -> None:
    """Raise RefusedError unless the form was made for this very session."""
    if not csrf or not same(fields.get("csrf", ""), csrf):
        raise RefusedError(
            403, "this form was not made for you, or is too old", "open the page again"
        )


def reason(fields: Mapping[str, str], *, needed: bool = False) -> str:
    """Return why somebody decided; RefusedError if it has to be said and is not."""
    said = fields.get("reason", "").strip()
    if needed and not said:
        raise RefusedError(422, "a no needs a reason", "say in a few words what is wrong")
    if len(said) > MOST_REASON:
        raise RefusedError(422, f"the reason is over {MOST_REASON} characters", "say it shorter")
    return said


def plan_hash(fields: Mapping[str, str]) -> str:
    """Return the hash of the plan that was on the page."""
    given = fields.get("plan_hash", "")
    if not re.fullmatch(r"[0-9a-f]{64}", given):
        raise RefusedError(422, "the form names no plan", "open the page again")
    return given
