"""The page of addresses: what the gateway answers, and the role that each of them takes."""

import json
from collections.abc import Iterator, Sequence

from reference import NOTE
from tocsin_testing import gateway_doors
from tocsin_testing.gateway_doors import Address

HEAD = f"""\
{NOTE}

# Addresses of the gateway

Each takes the role named, or one above it; [access](access.md) says who has which. `/openapi.json`
describes requests and answers of the API. `/live`, `/ready` and `/metrics`, which every service
has, ask for nobody: keep them inside.
"""


def page() -> str:
    """Return the whole page."""
    http = gateway_doors.gateway([f"--api-tokens={json.dumps({'nobody': 'x' * 16})}"])
    api, console = gateway_doors.addresses(http)
    parts = [HEAD, *_table("API", api), *_table("Console", console)]
    return "\n".join(parts)


def _table(name: str, known: Sequence[Address]) -> Iterator[str]:
    yield f"## {name}\n\n| method | path | role |\n|---|---|---|"
    for one in sorted(known, key=lambda one: (one.path, one.method)):
        yield f"| {one.method} | `{one.path}` | {one.role or 'open'} |"
    yield ""
