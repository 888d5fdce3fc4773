"""Settings of the validation service."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from tocsin_cluster.settings import ClusterSettings


class Settings(ClusterSettings):
    """Everything an operator can change about validation."""

    service: ClassVar[str] = "validation"

    validation_port: int = Field(default=9484, ge=0, le=65535, description="Port of the probes.")
    gitops_file: Path = Field(
        default=Path("gitops.yaml"), description="Repositories and write policy."
    )
