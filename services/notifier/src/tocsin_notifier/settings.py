"""Settings of the notifier service."""

from typing import ClassVar

from pydantic import Field, SecretStr

from tocsin_kit.settings import ServiceSettings


class Settings(ServiceSettings):
    """Everything an operator can change about the notifier."""

    service: ClassVar[str] = "notifier"

    notifier_port: int = Field(default=9486, ge=0, le=65535, description="Port of the probes.")
    notify_channels: tuple[str, ...] = Field(
        default=("log",), description="Channels that messages go to: log, webhook."
    )
    notify_webhook_url: SecretStr | None = Field(
        default=None, description="Where the webhook channel posts; its address is a secret."
    )
