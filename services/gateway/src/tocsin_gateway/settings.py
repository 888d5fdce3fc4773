"""Settings of the gateway service."""

from typing import ClassVar, Self

from pydantic import Field, SecretStr, model_validator

from tocsin_kit.settings import ServiceSettings


class Settings(ServiceSettings):
    """Everything an operator can change about the gateway."""

    service: ClassVar[str] = "gateway"

    gateway_port: int = Field(default=9481, ge=0, le=65535, description="Port of the API.")
    api_tokens: dict[str, SecretStr] = Field(
        default_factory=dict, description="Bearer tokens of the API, by the id of who holds each."
    )

    @model_validator(mode="after")
    def _fail_closed(self) -> Self:
        if not self.api_tokens:
            raise ValueError('nobody could use the API: set TOCSIN_API_TOKENS={"id": "token"}')
        return self
