"""What may stand in servers.yaml about one server; a key that is not known is refused."""

from enum import StrEnum
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from tocsin_contracts.capability import Capability


class Transport(StrEnum):
    """How a server is spoken to."""

    STDIO = "stdio"
    STREAMABLE_HTTP = "streamable_http"
    SSE = "sse"


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CredentialSource(_Strict):
    """Where short-lived credentials are read at every connect: a file, or what a command prints."""

    file: Path | None = None
    command: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.file is None) == (not self.command):
            raise ValueError("give either 'file' or 'command'")
        return self


class Entry(_Strict):
    """One server. Nothing is allowed that `allow` does not name; a list in `env` is passed on.

    `capabilities` says what a tool can do, by the first pattern that fits; a tool that no pattern
    fits counts as one that writes.
    """

    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = {}
    env_from: CredentialSource | None = None
    url: str = ""
    headers: dict[str, SecretStr] = {}
    headers_from: CredentialSource | None = None
    allow: tuple[str, ...] = ()
    capabilities: dict[str, Capability] = {}
    timeout: float = Field(default=20, gt=0, le=600)
    concurrency: int = Field(default=8, ge=1, le=64)
    result_limit: int = Field(default=256 * 1024, ge=1024, le=16 * 1024 * 1024)
    disabled: bool = False

    @model_validator(mode="after")
    def _fits_its_transport(self) -> Self:
        process, address = (
            ("command", "args", "env", "env_from"),
            ("url", "headers", "headers_from"),
        )
        wanted, foreign = (process, address) if self.is_process else (address, process)
        if not getattr(self, wanted[0]):
            raise ValueError(f"transport {self.transport.value!r} needs {wanted[0]!r}")
        odd = sorted(self.model_fields_set & set(foreign))
        if odd:
            raise ValueError(f"transport {self.transport.value!r} takes no {odd[0]!r}")
        if not self.is_process:
            _check_address(self.url)
        return self

    @property
    def is_process(self) -> bool:
        """Whether the server is a process that we start."""
        return self.transport is Transport.STDIO


def _check_address(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("'url' must be http:// or https:// with a host")
    if parts.username or parts.password:
        raise ValueError("'url' holds credentials; put them into 'headers' or 'headers_from'")
