"""How the parts of a deployment are: what is not known is said to be unknown, never well."""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from tocsin_contracts.base import Value


class Condition(StrEnum):
    """How something is. Unknown is no kind of healthy: nobody has seen it lately."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    UNKNOWN = "unknown"

    @classmethod
    def worst(cls, *found: "Condition") -> "Condition":
        """Return the worst; degraded is worse than unknown. Of none it is unknown."""
        order = (cls.DEGRADED, cls.UNKNOWN, cls.HEALTHY)
        return next((one for one in order if one in found), cls.UNKNOWN)


class InstanceView(Value):
    """One process of a service, as it told of itself last."""

    service: str
    instance: str
    condition: Condition
    version: str
    started_at: AwareDatetime
    seen_at: AwareDatetime = Field(description="When it told of itself last.")
    age_seconds: float = Field(ge=0, description="How long ago that was.")
    in_flight: int = Field(ge=0, description="Messages that it handled at that moment.")
    notice: str = Field(default="", description="What an operator should know of it.")
    last_error: str = Field(default="", description="Masked; empty where there was none.")
    last_error_at: AwareDatetime | None = None


class ConsumerView(Value):
    """The place of a service in a stream; a figure that nobody told is null."""

    durable: str
    service: str
    stream: str
    subject: str
    condition: Condition
    lag: int | None = Field(default=None, description="Messages that were not given out yet.")
    ack_pending: int | None = Field(default=None, description="Given out, not settled yet.")
    redelivered: int | None = Field(default=None, description="Of these, given more than once.")


class ServiceView(Value):
    """A service: healthy while one of its processes is, and no place of it in a stream lacks."""

    service: str
    condition: Condition
    instances: tuple[InstanceView, ...] = ()
    consumers: tuple[ConsumerView, ...] = ()


class StreamView(Value):
    """A stream; a figure that nobody told is null."""

    stream: str
    condition: Condition
    fill: float | None = Field(default=None, description="1 is full.")
    messages: int | None = None
    bytes: int | None = None


class StoreView(Value):
    """The run store, and whether it would still know everything after its next start."""

    condition: Condition
    persistence: str = Field(default="", description="How it keeps what it is told, in words.")
    problems: tuple[str, ...] = ()


class StatusView(Value):
    """Everything at one moment; `condition` is the worst of all."""

    condition: Condition
    at: AwareDatetime = Field(description="When all of this was looked at.")
    services: tuple[ServiceView, ...]
    streams: tuple[StreamView, ...]
    store: StoreView

    @property
    def problems(self) -> tuple[str, ...]:
        """Return a name for everything that is not healthy."""
        parts = [
            *((one.service, one.condition) for one in self.services),
            *((one.stream, one.condition) for one in self.streams),
            ("store", self.store.condition),
        ]
        return tuple(name for name, how in parts if how is not Condition.HEALTHY)
