"""What an operator says about an external agent."""

import re
from enum import StrEnum
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    HttpUrl,
    SecretStr,
    model_validator,
)

from tocsin_agents.tools.port import Capability

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError("write up to 63 small letters, digits and - between them")
    return value


Name = Annotated[str, AfterValidator(_name)]


class Reach(StrEnum):
    """Whom we talk to: the agent itself, or the controller that passes everything on to it."""

    DIRECT = "direct"
    CONTROLLER = "controller"


class ExternalAgent(BaseModel):
    """Where an agent is, and what it may cost; what it may do is decided here, not by its card.

    Without `capability: read` it counts as one that changes things, and is offered to nobody who
    may only read. A `sub_agent` can be handed over to beside. `private` allows hosts of networks
    that are not public, also without TLS.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: HttpUrl
    reach: Reach = Reach.DIRECT
    namespace: Name | None = None
    agent: Name | None = None
    token: SecretStr | None = None
    capability: Capability = Capability.WRITE
    sub_agent: bool = False
    allow: tuple[str, ...] = ()
    private: bool = False
    seconds: float = Field(default=120, gt=0)
    stall_seconds: float = Field(default=60, gt=0)
    most_chars: int = Field(default=20_000, ge=100)

    @model_validator(mode="after")
    def _is_named_at_its_controller(self) -> Self:
        if self.reach is Reach.CONTROLLER and not (self.namespace and self.agent):
            raise ValueError("a controller must be told `namespace` and `agent`")
        return self

    @property
    def base(self) -> str:
        """What the paths of discovery follow, without a slash at the end."""
        url = str(self.url).rstrip("/")
        if self.reach is Reach.CONTROLLER:
            return f"{url}/api/a2a/{self.namespace}/{self.agent}"
        return url

    def stream(self, card_url: str) -> str:
        """Return where questions go: what the card says, except that a controller passes them on.

        The card that a controller shows names the agent's address inside its cluster.
        """
        return f"{self.base}/" if self.reach is Reach.CONTROLLER else card_url

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that may be asked."""
        return (f"{self.url.host}:{self.url.port}", *self.allow)
