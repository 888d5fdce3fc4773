"""What an operator says of one channel: its kind, its place, and where its secrets are kept."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from tocsin_contracts import Value
from tocsin_kit.secret_refs import SecretRef

NAME = r"^[a-z0-9][a-z0-9-]{0,39}$"
"""What a channel may be called: its name is part of records, so nothing in it may be odd."""

MAILBOX = r"^[^\s@<>,;:\"()\[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}$"
Mailbox = Annotated[str, Field(pattern=MAILBOX)]


class Security(StrEnum):
    """How a connection to a mail server is kept from others."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


_USUAL_PORTS = {Security.STARTTLS: 587, Security.TLS: 465, Security.NONE: 25}


class _Options(Value):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=NAME)


class HookOptions(_Options):
    """A chat system's incoming webhook; its address is a secret."""

    type: Literal["teams", "discord", "mattermost", "google_chat"]
    url: SecretRef


class WebhookOptions(_Options):
    """Any program that takes posts; with a signing secret it can tell that they are ours."""

    type: Literal["webhook"]
    url: SecretRef
    secret: SecretRef | None = None


class EmailOptions(_Options):
    """Mail, through one server."""

    type: Literal["email"]
    server: str = Field(pattern=r"^[A-Za-z0-9.:-]{1,253}$")
    port: int | None = Field(default=None, ge=1, le=65535)
    security: Security = Security.STARTTLS
    ca_file: Path | None = None
    username: str = ""
    password: SecretRef | None = None
    sender: Mailbox
    recipients: tuple[Mailbox, ...] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if bool(self.username) != (self.password is not None):
            raise ValueError("`username` and `password` go together")
        if self.password and self.security is Security.NONE:
            raise ValueError("a password over a connection that others can read: set `security`")
        return self

    @property
    def at_port(self) -> int:
        """The port, or the usual one."""
        return self.port or _USUAL_PORTS[self.security]


Options = Annotated[HookOptions | WebhookOptions | EmailOptions, Field(discriminator="type")]
