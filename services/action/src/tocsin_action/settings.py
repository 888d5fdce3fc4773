"""Settings of the action service."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from tocsin_kit.settings import ServiceSettings


class Settings(ServiceSettings):
    """Everything an operator can change about action."""

    service: ClassVar[str] = "action"

    action_port: int = Field(default=9485, ge=0, le=65535, description="Port of the probes.")
    gitops_file: Path = Field(
        default=Path("gitops.yaml"), description="Repositories and write policy."
    )
    approvers: tuple[str, ...] = Field(
        default=(), description="Ids of people who may decide; nobody may if it is empty."
    )
    approval_hours: float = Field(
        default=4, gt=0, le=24 * 20, description="Hours until an approval nobody decided expires."
    )
