"""Settings of the validation service."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field

from tocsin_cluster.settings import ClusterSettings
from tocsin_contracts.owners import CodeOwners
from tocsin_validation.facts import Prices, Rules


class Settings(ClusterSettings):
    """Everything an operator can change about validation."""

    service: ClassVar[str] = "validation"

    validation_port: int = Field(default=9484, ge=0, le=65535, description="Port of the probes.")
    gitops_file: Path = Field(
        default=Path("gitops.yaml"), description="Repositories and write policy."
    )
    verify_minutes: float = Field(
        default=15, gt=0, description="Minutes that alerts have to stay clear after a merged fix."
    )
    cool_down_hours: float = Field(
        default=24, ge=0, description="Hours in which nothing is proposed again after a no."
    )
    look_seconds: float = Field(
        default=10, gt=0, description="Seconds a question about a change's surroundings may take."
    )
    public_url: str = Field(
        default="",
        pattern=r"^(https?://[^\s<>|\"]+)?$",
        description="Where people reach the console; pull requests link to it.",
    )
    helm_binary: str = Field(
        default="helm", description="Renders charts before and after a change; a name or a path."
    )
    codeowners: CodeOwners = Field(
        default=CodeOwners.SHOW,
        description="What owners of files in CODEOWNERS are asked for: `off`, to be named with "
        "the question (`show`), or a yes of one for every file (`require`).",
    )
    production: tuple[str, ...] = Field(
        default=Rules().production,
        description="Namespaces and environments in which a change needs more care, as globs.",
    )
    price_cpu_hour: float | None = Field(
        default=None, ge=0, description="Price of a CPU for an hour; unset: no cost is told."
    )
    price_gib_hour: float | None = Field(
        default=None, ge=0, description="Price of a GiB of memory for an hour, likewise."
    )
    price_currency: str = Field(default="", description="What those prices are in, such as USD.")

    @property
    def rules(self) -> Rules:
        """What the operator says about risk and cost."""
        cpu, gib = self.price_cpu_hour, self.price_gib_hour
        known = cpu is not None and gib is not None
        prices = Prices(cpu or 0, gib or 0, self.price_currency) if known else None
        return Rules(production=self.production, prices=prices)
