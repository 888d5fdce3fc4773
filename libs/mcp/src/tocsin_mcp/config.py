"""servers.yaml: which MCP servers there are, and what of them may be used."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from pydantic import ValidationError

from tocsin_kit.redaction import Redactor
from tocsin_mcp.entries import Entry
from tocsin_mcp.errors import ConfigError
from tocsin_mcp.expansion import Use, expand

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


@dataclass(frozen=True, slots=True)
class Server:
    """One server as it is used: its name, what the file says of it, and what masks its secrets."""

    name: str
    entry: Entry
    redactor: Redactor = field(default_factory=Redactor, repr=False, compare=False)

    @property
    def place(self) -> str:
        """Where it is, fit to be shown: the program, or scheme, host and port."""
        if self.entry.is_process:
            return self.entry.command
        parts = urlsplit(self.entry.url)
        return f"{parts.scheme}://{parts.netloc}"


def load(file: Path, environ: Mapping[str, str]) -> tuple[Server, ...]:
    """Read the servers, those that are disabled too; ConfigError names what cannot be right."""
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"MCP servers: cannot read {str(file)!r}: {error}") from error
    return tuple(
        _server(name, raw, f"{str(file)!r}: server {str(name)!r}", environ)
        for name, raw in _servers(content, file).items()
    )


def _servers(content: Any, file: Path) -> dict[Any, Any]:
    if not isinstance(content, dict) or set(content) != {"servers"}:
        raise ConfigError(
            f"{str(file)!r}: wanted one key, 'servers', with a server under each name"
        )
    servers = content["servers"] or {}
    if not isinstance(servers, dict):
        raise ConfigError(f"{str(file)!r}: 'servers' must be a table of servers by name")
    return servers


def _server(name: Any, raw: Any, where: str, environ: Mapping[str, str]) -> Server:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(f"{where}: a name is lower case letters, digits, '-' and '_', 40 at most")
    if not isinstance(raw, dict):
        raise ConfigError(f"{where}: wanted a table")
    uses: tuple[Use, ...] = ()
    given = _passed_on(raw)
    if raw.get("disabled") is not True:
        given, uses = expand(given, where, environ)
    try:
        entry = Entry.model_validate(given)
    except ValidationError as error:
        raise ConfigError(f"{where}: {_told(error)}") from None
    return Server(name, entry, Redactor(_secrets(entry, uses)))


def _passed_on(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Read a list of names in `env` as variables of ours that keep their names."""
    names = raw.get("env")
    env = {str(name): f"${{{name}}}" for name in names} if isinstance(names, list) else names
    return {**raw, "env": env} if env is not None else dict(raw)


def _told(error: ValidationError) -> str:
    return "; ".join(
        f"field {'.'.join(map(str, one['loc']))!r}: {one['msg']}" if one["loc"] else one["msg"]
        for one in error.errors(include_input=False)
    )


def _secrets(entry: Entry, uses: Iterable[Use]) -> set[str]:
    """Return what must not be shown: headers, and variables, unless they are a place."""
    headers = {value.get_secret_value() for value in entry.headers.values()}
    used = {use.value for use in uses if not _is_a_place(entry, use)}
    return headers | {word for header in headers for word in header.split()} | used


def _is_a_place(entry: Entry, use: Use) -> bool:
    if use.field == "url":
        return use.value in urlsplit(entry.url).netloc
    return use.field == "command" or use.value.startswith("/")
