"""Settings of the ingest service."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import Field, SecretStr, model_validator

from tocsin_contracts import ForgeKind
from tocsin_ingest.mapping import SOURCE_NAME, SourceMapping
from tocsin_ingest.marks import PASSING, PLACES
from tocsin_ingest.senders import SHORTEST_TOKEN, Sender, faults
from tocsin_ingest.triage.rules import Rules
from tocsin_kit.settings import ServiceSettings


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
    senders: dict[str, Sender] = Field(
        default_factory=dict,
        description="Who may send, by source or source/instance: docs/sources.md#who-may-send.",
    )
    forge_secrets: dict[ForgeKind, tuple[SecretStr, ...]] = Field(
        default_factory=dict,
        description="Webhook secrets by forge: github, gitlab, gitea; two allow a rotation.",
    )
    dev: bool = Field(default=False, description="Development mode: senders need no token.")
    max_body_bytes: int = Field(
        default=1024 * 1024, ge=1024, description="Largest webhook body, in bytes."
    )
    read_seconds: float = Field(
        default=10, gt=0, le=300, description="Seconds a webhook body may take to arrive."
    )
    max_in_flight: int = Field(
        default=256, ge=1, description="Requests that are worked on at once; more are answered 503."
    )
    max_in_flight_per_sender: int | None = Field(
        default=None,
        ge=1,
        description="The same of one sender, and of one address that has not shown who it is; "
        "unset, a quarter of all.",
    )
    suppress_alerts: tuple[str, ...] = Field(
        default=("Watchdog", "InfoInhibitor", "DeadMansSwitch"),
        description="Titles of alerts that say nothing is wrong; their runs end at once.",
    )
    triage: Rules = Field(
        default_factory=Rules,
        description="Silences, windows, freezes, routes, correlation, storms: docs/triage.md.",
    )
    alertmanager_url: str = Field(
        default="", description="Alertmanager whose silences hold here too; empty asks none."
    )
    alertmanager_token: SecretStr | None = Field(
        default=None, description="Bearer token for that Alertmanager, if it wants one."
    )
    plugins: tuple[str, ...] = Field(
        default=(), description="Alert sources of installed packages that are loaded, by name."
    )
    generic_sources: dict[Annotated[str, Field(pattern=SOURCE_NAME)], SourceMapping] = Field(
        default_factory=dict,
        description="Alert sources without code, by name: docs/sources.md#senders-without-code.",
    )
    replica_labels: tuple[str, ...] = Field(
        default=("prometheus_replica", "replica", "alertmanager"),
        description="Labels that only tell replicas of a sender apart.",
    )
    incident_labels: tuple[str, ...] = Field(
        default=PLACES,
        description="Labels that tell incidents of one alert name apart, if no workload is known.",
    )
    volatile_labels: tuple[str, ...] = Field(
        default=PASSING,
        description="Labels that never tell incidents apart: a restart or a rise changes them.",
    )
    repeat_seconds: float = Field(
        default=60, ge=0, description="Seconds between news of a run that add nothing but text."
    )

    spool_dir: Path | None = Field(
        default=None,
        description="Folder on a persistent disk for alerts while the servers are away; "
        "without one they are answered 503.",
    )
    spool_bytes: int = Field(
        default=256 * 1024 * 1024, ge=1024, description="Most bytes in that folder."
    )
    spool_alerts: int = Field(default=100_000, ge=1, description="Most alerts in that folder.")

    @model_validator(mode="after")
    def _fail_closed(self) -> Self:
        if not (self.ingest_tokens or self.senders or self.dev):
            raise ValueError(
                "no sender could be told from a stranger: set TOCSIN_INGEST_TOKENS "
                "or TOCSIN_SENDERS, or TOCSIN_DEV=true on a development machine"
            )
        for number, token in enumerate(self.ingest_tokens, start=1):
            if _can_be_guessed(token):
                raise ValueError(
                    f"TOCSIN_INGEST_TOKENS: token number {number} can be guessed: "
                    f"it needs at least {SHORTEST_TOKEN} characters"
                )
        for forge, secrets in self.forge_secrets.items():
            if not secrets or any(_can_be_guessed(secret) for secret in secrets):
                raise ValueError(
                    f"TOCSIN_FORGE_SECRETS: {forge} needs secrets of at least "
                    f"{SHORTEST_TOKEN} characters"
                )
        for name, sender in self.senders.items():
            for fault in faults(name, sender, dev=self.dev):
                raise ValueError(f"TOCSIN_SENDERS: {fault}")
        return self


def _can_be_guessed(secret: SecretStr) -> bool:
    return len(secret.get_secret_value().strip()) < SHORTEST_TOKEN
