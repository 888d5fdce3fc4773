"""Settings of the rca service."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, SecretStr, ValidationInfo, field_validator

from tocsin_agents.limits.budgets import Limit, Limits
from tocsin_agents.models.settings import ModelSettings
from tocsin_agents.remote.config import ExternalAgent
from tocsin_cluster.settings import ClusterSettings
from tocsin_rca.backends import Backend, BackendName
from tocsin_rca.backends.options import HeaderName, HeaderText


class Settings(ClusterSettings, ModelSettings):
    """Everything an operator can change about rca."""

    service: ClassVar[str] = "rca"

    rca_port: int = Field(default=9483, ge=0, le=65535, description="Port of the probes.")
    gitops_file: Path = Field(
        default=Path("gitops.yaml"), description="Repositories and write policy."
    )
    cluster_instructions: dict[str, str] = Field(
        default={}, description="What a model is told about a cluster, by its name."
    )
    external_agents: dict[str, ExternalAgent] = Field(
        default={}, description="Agents elsewhere that may be asked, by name: docs/agents.md."
    )
    backends: dict[BackendName, Backend] = Field(
        default={},
        description="What else may be asked, by name, each with its type: docs/tools.md.",
    )
    toolsets: tuple[str, ...] = Field(
        default=(), description="Toolsets of installed packages that are loaded, by name."
    )
    max_rca_attempts: int = Field(
        default=3, ge=1, description="Hypotheses that may be rejected before a person takes over."
    )
    investigation_seconds: float = Field(
        default=60, gt=0, description="Seconds one investigation may ask questions for."
    )
    investigation_calls: int = Field(
        default=200, ge=1, description="Questions one investigation may ask."
    )
    investigation_limits: Limits = Field(
        default=Limits(),
        description="What a model may spend on a run, a source and a day: docs/agents.md#limits.",
    )
    chat_limits: Limits = Field(
        default=Limits(
            run=Limit(model_calls=15, tool_calls=30, tokens=200_000, seconds=300), soft=None
        ),
        description="What a model may spend on a question in a chat: docs/agents.md#limits.",
    )
    skills_dir: Path | None = Field(
        default=None,
        description="Folder of skills for agents: docs/agents.md#an-agent-and-its-loop.",
    )
    instructions_file: Path | None = Field(
        default=None,
        description="File that every agent is told after the security policy, read again when it "
        "has changed: docs/agents.md#an-agent-and-its-loop.",
    )
    budget_minutes: float = Field(
        default=30,
        gt=0,
        le=60 * 24 * 20,
        description="Minutes that an investigation near a limit waits for people to give more.",
    )
    approvers: tuple[str, ...] = Field(
        default=(),
        description="Ids of people who may decide; to those such as `github:ID` comments are "
        "answered too. Nobody may if it is empty.",
    )
    own_accounts: tuple[str, ...] = Field(
        default=(), description="Our own accounts at forges, as `github:ID`; they steer nothing."
    )
    answers_per_hour: int = Field(
        default=6, ge=0, description="Comments on the pull request of one run that are answered."
    )
    prometheus_url: str = Field(
        default="", description="Prometheus, or what speaks its API, that is asked; empty: none."
    )
    prometheus_user: str = Field(
        default="", description="User for that Prometheus, if it wants a password."
    )
    prometheus_token: SecretStr | None = Field(
        default=None, description="Bearer token for it, or the password of that user."
    )
    prometheus_ca: Path | None = Field(
        default=None, description="File of the authorities that its certificate may be from."
    )
    prometheus_headers: dict[HeaderName, HeaderText] = Field(
        default={},
        description="More that is sent to it, such as X-Scope-OrgID for Mimir; no secrets.",
    )
    prometheus_cluster_label: str = Field(
        default="",
        pattern=r"^([a-zA-Z_][a-zA-Z0-9_]*)?$",
        description="Label that tells clusters apart in it; empty: it knows only one.",
    )
    record_days: float = Field(
        default=7,
        ge=0,
        description="Days that `tocsin replay` knows what rca saw; 0: it is not kept.",
    )
    knowledge_dir: Path | None = Field(
        default=None, description="Folder of runbooks, as text files: docs/diagnosis.md#runbooks."
    )
    runbook_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts, or host:port, whose pages alerts may name as their runbook."
    )

    @field_validator("investigation_limits", "chat_limits", mode="before")
    @classmethod
    def _of_a_run(cls, given: Any, info: ValidationInfo) -> Any:
        """Keep the limits of a run that are not named: to leave one out is no way to lift it."""
        if not isinstance(given, Mapping) or not isinstance(given.get("run"), Mapping):
            return given
        usual: Limits = cls.model_fields[info.field_name or ""].default
        return {**given, "run": {**usual.run.model_dump(), **given["run"]}}

    @field_validator("chat_limits")
    @classmethod
    def _never_asks(cls, given: Limits) -> Limits:
        """A question is short: it ends at its limit, and nobody is asked for more."""
        return given.model_copy(update={"soft": None})
