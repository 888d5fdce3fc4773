"""What an operator says of any backend: where it is, how to show who asks, and whom to trust."""

import base64
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from tocsin_agents.tools.signatures import Function
from tocsin_contracts import Value
from tocsin_kit.secret_refs import SecretRef
from tocsin_rca.backends.client import Client

Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s<>|\"@?#]+$")]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,60}$")]
HeaderText = Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e][\x20-\x7e]{0,199}$")]
Read = Callable[[SecretRef], str]
"""Returns a secret; whoever reads it so masks it ever after."""


class BackendOptions(Value, ABC):
    """What every kind of backend has; one kind adds what only it needs, and its tools."""

    model_config = ConfigDict(extra="forbid")

    usual_url: ClassVar[str] = ""
    """Where a backend is that all its customers share."""

    url: Url = Field(default="", description="Where its API is.")
    page_url: Url = Field(
        default="", description="Where people open it, if that is elsewhere; answers link to it."
    )
    token: SecretRef | None = Field(
        default=None, description="Where its token is kept, or the password of `user`."
    )
    user: str = Field(default="", description="Whose password it is; empty: it is a bearer token.")
    headers: dict[HeaderName, HeaderText] = Field(
        default={}, description="More that is sent with each question; no secrets."
    )
    ca_file: Path | None = Field(
        default=None, description="File of the authorities that its certificate may be from."
    )
    seconds: float = Field(default=10, gt=0, le=25, description="Seconds that an answer may take.")

    @model_validator(mode="after")
    def _has_a_place(self) -> Self:
        if not self.base:
            raise ValueError("`url` is missing: say where it is")
        return self

    @property
    def base(self) -> str:
        """Where its API is, without a slash at the end."""
        return (self.url or self.usual_url).rstrip("/")

    @property
    def page(self) -> str:
        """Where people open it, without a slash at the end."""
        return (self.page_url or self.base).rstrip("/")

    def credentials(self, read: Read) -> Mapping[str, str]:
        """Return the headers that show who asks."""
        if not self.token:
            return {}
        secret = read(self.token)
        if not self.user:
            return {"Authorization": f"Bearer {secret}"}
        pair = base64.b64encode(f"{self.user}:{secret}".encode()).decode()
        return {"Authorization": f"Basic {pair}"}

    @abstractmethod
    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions: typed functions, each of which only reads."""
