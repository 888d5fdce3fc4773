"""Where each setting got its value, so that nobody has to guess which source won."""

import os
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from pydantic import RootModel
from pydantic_settings import EnvSettingsSource

from tocsin_contracts.base import Value
from tocsin_kit import secret_files
from tocsin_kit.redaction import Redactor
from tocsin_kit.settings import CONFIG_VARIABLE, ServiceSettings, TomlTables


class Origin(StrEnum):
    """What a value comes from; the first wins. Live is what was changed while services run."""

    LIVE = "live"
    FLAG = "flag"
    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


class Explained(Value):
    """One setting: its variable, its value with secrets masked, and what it comes from.

    `where` is the flag, the variable, the file with a secret or the table that said it.
    """

    variable: str
    value: str
    origin: Origin
    where: str = ""


def explain(kind: type[ServiceSettings], flags: Sequence[str] = ()) -> list[Explained]:
    """Return every setting of a service as it would start now, in the order of its definition.

    Raises PermanentError, as the start would, when a source cannot be read or a value is wrong.
    """
    settings = kind.load(flags)
    flagged = {_field(flag) for flag in flags if flag.startswith("--")}
    from_environment = EnvSettingsSource(kind)()
    tables = TomlTables(kind, kind.service).tables()

    def origin(name: str) -> tuple[Origin, str]:
        if name in flagged:
            return Origin.FLAG, f"--{name.replace('_', '-')}"
        if name in from_environment:
            held = secret_files.file_of(os.environ, _variable(name))
            return Origin.ENVIRONMENT, str(held or _variable(name))
        named = [table for table, values in tables.items() if name in values]
        if named:
            return Origin.FILE, f"[{named[-1]}] in {CONFIG_VARIABLE}"
        return Origin.DEFAULT, ""

    return [_explained(name, getattr(settings, name), *origin(name)) for name in kind.model_fields]


def _explained(name: str, value: Any, origin: Origin, where: str) -> Explained:
    return Explained(
        variable=_variable(name), value=Redactor().text(_shown(value)), origin=origin, where=where
    )


def _shown(value: Any) -> str:
    """Write a value as it would be set; pydantic masks what is secret in it."""
    if value is None:
        return ""
    text = RootModel(value).model_dump_json()
    return text[1:-1] if text.startswith('"') else text


def _variable(name: str) -> str:
    return f"TOCSIN_{name.upper()}"


def _field(flag: str) -> str:
    return flag.removeprefix("--").partition("=")[0].replace("-", "_")
