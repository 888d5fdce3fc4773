"""`tocsin config explain`: what each setting is on this machine, and which source said so."""

import difflib
import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer
from pydantic import RootModel
from rich.console import Console
from rich.text import Text

from tocsin_cli.answering import is_installed
from tocsin_cli.commands.options import Json
from tocsin_cli.errors import ExitCode, UsageError
from tocsin_cli.stack import SERVICES
from tocsin_cli.terminal import one_line, show
from tocsin_kit import secret_files
from tocsin_kit.errors import PermanentError
from tocsin_kit.origins import Explained, Origin, explain
from tocsin_kit.settings import CONFIG_VARIABLE, ServiceSettings

KNOWN = (*SERVICES, "cli")
_READ_ELSEWHERE = (CONFIG_VARIABLE, secret_files.VARIABLE, "TOCSIN_LOCAL_MODELS_ONLY")


def explain_settings(
    services: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SERVICE]...", help="Default: all that are installed here."),
    ] = None,
    flags: Annotated[
        list[str] | None,
        typer.Option("--flag", help="As if a service got this flag: --flag=--rca-port=0."),
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only what is not at its default.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print each setting, its value with secrets masked, and where the value comes from."""
    found = {
        service: _explained(kind, flags or (), changed)
        for service, kind in _kinds(services or []).items()
    }
    if as_json:
        typer.echo(RootModel(found).model_dump_json(indent=2))
    else:
        show(Console(file=sys.stdout), *(_page(service, said) for service, said in found.items()))
    show(Console(stderr=True), *(f"note: {one}" for one in unread(os.environ)))
    if any(isinstance(said, str) for said in found.values()):
        raise typer.Exit(ExitCode.FAILED)


def unread(names: Iterable[str]) -> list[str]:
    """Return a sentence for each variable that looks like a setting and is none."""
    given = [n for n in names if n.startswith("TOCSIN_") and n not in _READ_ELSEWHERE]
    kinds = _kinds([]).values() if given else ()
    known = {f"TOCSIN_{field.upper()}" for kind in kinds for field in kind.model_fields}
    return [_meant(name, known) for name in given if name.upper() not in known]


def _meant(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    return f"{name} is no setting of any service" + (f"; is {near[0]} meant?" if near else "")


def _explained(
    kind: type[ServiceSettings], flags: Sequence[str], changed: bool
) -> list[Explained] | str:
    """Return the settings, or why the service would not start with them."""
    try:
        found = explain(kind, flags)
    except PermanentError as error:
        return str(error)
    return [one for one in found if not changed or one.origin is not Origin.DEFAULT]


def _kinds(names: list[str]) -> dict[str, type[ServiceSettings]]:
    """Import the settings of services by name: this command depends on none of them."""
    unknown = [name for name in names if name not in KNOWN]
    if unknown:
        raise UsageError(f"no service is called {unknown[0]!r}; known: {', '.join(KNOWN)}")
    missing = [name for name in names if not is_installed(name)]
    if missing:
        raise UsageError(f"{missing[0]!r} is not installed here; ask where it runs")
    wanted = names or [name for name in KNOWN if is_installed(name)]
    return {name: importlib.import_module(f"tocsin_{name}.settings").Settings for name in wanted}


def _page(service: str, said: list[Explained] | str) -> Text:
    if isinstance(said, str):
        lines = [f"  does not start: {one_line(said)}"]
    else:
        width = max((len(one.variable) for one in said), default=0)
        lines = [f"  {one.variable:<{width}}  {_value(one)}" for one in said]
    return Text("\n".join([service, *lines]), no_wrap=True)


def _value(one: Explained) -> str:
    where = f"{one.origin}: {one.where}" if one.where else one.origin.value
    return f"{one_line(one.value) or '-'}  ({where})"
