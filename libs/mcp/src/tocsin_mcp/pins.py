"""Which schema of each tool was accepted: one that changed behind our back is not used."""

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tocsin_mcp.errors import ConfigError
from tocsin_mcp.port import ListedTool


class PinState(StrEnum):
    """How what a server says of a tool now stands to what was accepted."""

    NEW = "new"
    PINNED = "pinned"
    CHANGED = "changed"


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: int = 1
    servers: dict[str, dict[str, str]] = {}


class Pins:
    """The pins of a file, read again whenever it has changed; several processes may share it.

    A tool is known by its name in lower case, as everywhere: in other letters it is no new tool.

    With `trust_first` a tool that was never seen is pinned as it is; without, somebody has to
    accept it. What cannot be read or written is a ConfigError.
    """

    def __init__(self, file: Path, *, trust_first: bool = False) -> None:
        self._file = file
        self._trust_first = trust_first
        self._seen: tuple[int, int] | None = None
        self._pins: Mapping[str, Mapping[str, str]] = {}

    def state(self, server: str, tool: ListedTool) -> PinState:
        """Return how the tool stands now."""
        self._refresh()
        pinned = self._pins.get(server, {}).get(tool.name.lower())
        if pinned is None:
            return PinState.NEW
        return PinState.PINNED if pinned == tool.digest else PinState.CHANGED

    def meet(self, server: str, tools: tuple[ListedTool, ...]) -> None:
        """Pin what is seen for the first time, if that is trusted."""
        fresh = [tool for tool in tools if self.state(server, tool) is PinState.NEW]
        if self._trust_first and fresh:
            self._write(server, {tool.name.lower(): tool.digest for tool in fresh}, over=False)

    def accept(self, server: str, tool: ListedTool) -> None:
        """Pin the tool as it is now, whatever was pinned before."""
        self._write(server, {tool.name.lower(): tool.digest}, over=True)

    def _write(self, server: str, digests: Mapping[str, str], *, over: bool) -> None:
        with self._locked():
            content = self._read()
            known = content.servers.get(server, {})
            merged = {**known, **digests} if over else {**digests, **known}
            content.servers[server] = dict(sorted(merged.items()))
            fresh = self._file.with_name(f".{self._file.name}.new")
            fresh.write_text(content.model_dump_json(indent=2) + "\n", encoding="utf-8")
            fresh.replace(self._file)
        self._seen = None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.with_name(f".{self._file.name}.lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise ConfigError(
                f"MCP pins: cannot write {str(self._file)!r}: {error.strerror}; let it be written, "
                "or ship a file in which every tool is pinned"
            ) from error

    def _refresh(self) -> None:
        try:
            stat = self._file.stat()
        except FileNotFoundError:
            self._seen, self._pins = None, {}
            return
        except OSError as error:
            raise ConfigError(f"MCP pins: cannot read {str(self._file)!r}: {error}") from error
        seen = (stat.st_mtime_ns, stat.st_ino)
        if seen != self._seen:
            self._pins, self._seen = self._read().servers, seen

    def _read(self) -> _File:
        try:
            return _File.model_validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return _File()
        except (OSError, ValidationError) as error:
            raise ConfigError(f"MCP pins: cannot read {str(self._file)!r}: {error}") from error
