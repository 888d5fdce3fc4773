"""Settings of the gateway service."""

from typing import ClassVar, Self

from pydantic import Field, IPvAnyNetwork, SecretStr, model_validator

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

    trusted_proxies: list[IPvAnyNetwork] = Field(
        default_factory=list,
        description="Networks of proxies whose word on who somebody is counts; empty: nobody's.",
    )
    proxy_user_header: str = Field(
        default="X-Forwarded-User", min_length=1, description="Header in which they name a person."
    )
    proxy_groups_header: str = Field(
        default="X-Forwarded-Groups",
        min_length=1,
        description="Header in which they list the person's groups, with commas between.",
    )
    proxy_roles: dict[str, Role] = Field(
        default_factory=dict, description="What the members of a group may do, by group."
    )
    proxy_jwt_header: str = Field(
        default="",
        description="Header with a signed JWT; then no other header names anybody.",
    )
    proxy_jwt_keys: str = Field(
        default="", description="JWKS file with the keys that verify it; read again when changed."
    )
    proxy_jwt_audience: str = Field(
        default="", description="The `aud` that it has to carry: only what was made for us counts."
    )
    proxy_jwt_issuer: str = Field(default="", description="Its `iss`; empty: any.")
    proxy_user_claim: str = Field(default="email", description="Claim with the person's id.")
    proxy_groups_claim: str = Field(default="groups", description="Claim with their groups.")

    audit_key_file: str = Field(
        default="",
        description="File with a key of 32 bytes or more that seals the audit; empty: no seals.",
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
        holders: dict[str, str] = {}
        for who, secret in self.api_tokens.items():
            token = secret.get_secret_value().strip()
            if len(token) < SHORTEST_TOKEN:
                raise ValueError(
                    f"TOCSIN_API_TOKENS: the token of {who!r} can be guessed: "
                    f"it needs at least {SHORTEST_TOKEN} characters"
                )
            other = holders.setdefault(token, who)
            if other != who:
                raise ValueError(
                    f"TOCSIN_API_TOKENS: {other!r} and {who!r} hold the same token, so nobody "
                    "could tell who decided: give each their own"
                )
        return self

    @model_validator(mode="after")
    def _proxies_are_whole(self) -> Self:
        told = {
            "TOCSIN_PROXY_JWT_HEADER": self.proxy_jwt_header,
            "TOCSIN_PROXY_JWT_KEYS": self.proxy_jwt_keys,
            "TOCSIN_PROXY_JWT_AUDIENCE": self.proxy_jwt_audience,
        }
        missing = [name for name, value in told.items() if not value]
        if missing and len(missing) < len(told):
            raise ValueError(f"a signed word of a proxy cannot be verified: set {missing[0]} too")
        if not self.trusted_proxies and (self.proxy_roles or not missing):
            raise ValueError("no proxy would be believed: set TOCSIN_TRUSTED_PROXIES too")
        return self

    @property
    def https(self) -> bool:
        """Whether people reach the console over https."""
        return self.public_url.startswith("https:")
