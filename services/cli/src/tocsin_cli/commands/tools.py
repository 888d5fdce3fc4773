"""`tocsin tools list`: what agents can use, and why not, as rca says it."""

import os

from pydantic import TypeAdapter, ValidationError

from tocsin_cli.answering import answer
from tocsin_cli.commands.mcp import File, PinsFile
from tocsin_cli.commands.options import Json
from tocsin_cli.tables import print_table
from tocsin_cli.terminal import one_line
from tocsin_contracts.views import ToolView
from tocsin_kit.errors import PermanentError

_HEAD = ("name", "capability", "server", "state")
_Tools = TypeAdapter(tuple[ToolView, ...])


def list_tools(file: File = None, pins: PinsFile = None, *, as_json: Json = False) -> None:
    """Print each tool there could be, what it can do, and whether it is offered."""
    given = {"--mcp-servers": file, "--mcp-pins": pins}
    flags = [word for flag, path in given.items() if path for word in (flag, str(path))]
    try:
        found = _Tools.validate_json(answer("rca", "tools", *flags, environment=os.environ))
    except ValidationError as error:
        raise PermanentError(f"rca told its tools in another way than wanted: {error}") from error
    rows = [(one.name, one.capability or "-", one.server, one_line(one.state)) for one in found]
    print_table(_HEAD, rows, as_json=as_json)
