"""Settings of the ingest service."""

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field, SecretStr, model_validator

from tocsin_kit.settings import ServiceSettings

SHORTEST_TOKEN = 16
"""Characters below which a token can be guessed."""


class Role(StrEnum):
    """Receivers take webhooks and need little memory; triage decides what becomes of new runs."""

    RECEIVER = "receiver"
    TRIAGE = "triage"
    BOTH = "both"

    @property
    def receives(self) -> bool:
        """Whether it takes webhooks."""
        return self is not Role.TRIAGE

    @property
    def triages(self) -> bool:
        """Whether it consumes events."""
        return self is not Role.RECEIVER


class Settings(ServiceSettings):
    """Everything an operator can change about ingest."""

    service: ClassVar[str] = "ingest"

    role: Role = Field(default=Role.BOTH, description="receiver, triage, or both in one process.")
    ingest_port: int = Field(default=9480, ge=0, le=65535, description="Port for webhooks.")
    ingest_tokens: tuple[SecretStr, ...] = Field(
        default=(),
        description="Bearer tokens of senders, 16 characters or more; two allow a rotation.",
    )
    dev: bool = Field(default=False, description="Development mode: senders need no token.")
    max_body_bytes: int = Field(
        default=1024 * 1024, ge=1024, description="Largest webhook body, in bytes."
    )
    suppress_alerts: tuple[str, ...] = Field(
        default=("Watchdog", "InfoInhibitor", "DeadMansSwitch"),
        description="Titles of alerts that say nothing is wrong; their runs end at once.",
    )
    replica_labels: tuple[str, ...] = Field(
        default=("prometheus_replica", "replica", "alertmanager"),
        description="Labels that only tell replicas of a sender apart.",
    )

    @model_validator(mode="after")
    def _fail_closed(self) -> Self:
        if not self.ingest_tokens and not self.dev:
            raise ValueError(
                "no sender could be told from a stranger: set TOCSIN_INGEST_TOKENS, "
                "or TOCSIN_DEV=true on a development machine"
            )
        for number, token in enumerate(self.ingest_tokens, start=1):
            if len(token.get_secret_value().strip()) < SHORTEST_TOKEN:
                raise ValueError(
                    f"TOCSIN_INGEST_TOKENS: token number {number} can be guessed: "
                    f"it needs at least {SHORTEST_TOKEN} characters"
                )
        return self
