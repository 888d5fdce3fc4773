"""`tocsin audit verify|export`: whether what people did is still told as it happened."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tocsin_cli import settings
from tocsin_cli.commands.options import Data, Json
from tocsin_cli.errors import ExitCode
from tocsin_cli.settings import Settings
from tocsin_cli.terminal import one_line, show
from tocsin_cli.workspace import DEFAULT, Workspace
from tocsin_kit import audit
from tocsin_kit.audit import Verified
from tocsin_kit.audit_chain import Key
from tocsin_kit.errors import PermanentError


def verify(
    *,
    key_file: Annotated[
        str,
        typer.Option(
            "--key-file",
            envvar="TOCSIN_AUDIT_KEY_FILE",
            metavar="FILE",
            help="The key of the gateway: the seals are checked too.",
        ),
    ] = "",
    as_json: Json = False,
    data: Data = DEFAULT,
) -> None:
    """Check every link of the audit, and each fact of the stream against its entry.

    It asks the bus and the store themselves, and names the first broken link. Exit code 1 then.
    """
    known, workspace = Settings.load(), Workspace(data)
    found = asyncio.run(
        audit.verify(
            settings.bus(known, workspace),
            settings.store(known, workspace),
            prefix=known.redis_prefix,
            key=Key.read(key_file),
        )
    )
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        show(Console(), *_lines(found))
    if found.broken:
        raise typer.Exit(ExitCode.FAILED)


def export(
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write to this file, which must not be there."),
    ] = None,
    data: Data = DEFAULT,
) -> None:
    """Print every entry of the audit as a line of JSON, the oldest first."""
    known, workspace = Settings.load(), Workspace(data)
    store = settings.store(known, workspace)
    entries = asyncio.run(audit.exported(store, prefix=known.redis_prefix))
    lines = "".join(f"{entry.model_dump_json()}\n" for entry in entries)
    if out is None:
        typer.echo(lines, nl=False)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(lines)
    except OSError as error:
        raise PermanentError(f"cannot write {str(out)!r}: {error.strerror}") from error
    show(Console(), one_line(f"{len(entries)} entries in {out}"))


def _lines(found: Verified) -> list[str]:
    seals = "seals checked" if found.sealed else "seals not checked: no key was given"
    head = f"; newest hash {found.head}" if found.head else ""
    lines = [f"{found.entries} entries, {seals}{head}", f"{found.compared} facts compared"]
    if found.waiting:
        lines.append(f"{found.waiting} facts are newer than the audit, and will be appended")
    if found.broken is None:
        return [*lines, "The audit is whole."]
    where = f"entry {found.broken.number}" if found.broken.number else "the stream"
    fact = f", fact {one_line(found.broken.event)}" if found.broken.event else ""
    return [*lines, f"BROKEN at {where}{fact}: {found.broken.fault.value}"]
