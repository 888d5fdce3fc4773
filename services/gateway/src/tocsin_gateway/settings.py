"""Settings of the gateway service."""

from typing import ClassVar, Self

from pydantic import Field, SecretStr, model_validator

from tocsin_contracts.roles import Role
from tocsin_kit.settings import ServiceSettings

SHORTEST_TOKEN = 16
"""Characters below which a token can be guessed."""


class Settings(ServiceSettings):
    """Everything an operator can change about the gateway."""

    service: ClassVar[str] = "gateway"

    gateway_port: int = Field(default=9481, ge=0, le=65535, description="Port of the API.")
    api_tokens: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="Bearer tokens of the API, 16 characters or more, by who holds each.",
    )

    api_roles: dict[str, Role] = Field(
        default_factory=dict,
        description="What each holder may do, by id: viewer, operator, approver or admin.",
    )
    api_default_role: Role = Field(
        default=Role.VIEWER, description="What a holder without an entry in the roles may do."
    )

    public_url: str = Field(
        default="",
        pattern=r"^(?:https?://\S+)?$",
        description="Where people reach the console; over https its cookies go nowhere else.",
    )
    session_hours: float = Field(
        default=12, gt=0, le=24 * 7, description="Hours until the console asks for the token again."
    )

    @model_validator(mode="after")
    def _fail_closed(self) -> Self:
        if not self.api_tokens:
            raise ValueError('nobody could use the API: set TOCSIN_API_TOKENS={"id": "token"}')
        for who, token in self.api_tokens.items():
            if len(token.get_secret_value().strip()) < SHORTEST_TOKEN:
                raise ValueError(
                    f"TOCSIN_API_TOKENS: the token of {who!r} can be guessed: "
                    f"it needs at least {SHORTEST_TOKEN} characters"
                )
        return self
