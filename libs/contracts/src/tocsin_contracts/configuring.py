"""What administrators change while everything runs."""

from typing import ClassVar

from pydantic import Field

from tocsin_contracts.event import Event


class ConfigChanged(Event):
    """An administrator changed a setting that services take over at work; it belongs to no run."""

    topic: ClassVar[str] = "operations.config-changed.v1"

    by: str
    key: str = Field(description="The setting, without TOCSIN_, in lower case.")
    before: str | None = Field(default=None, description="As JSON; null: as at the start.")
    after: str | None = Field(default=None, description="Likewise.")
