"""What an operator says about models; a service that asks some has these among its settings."""

from pydantic import Field, HttpUrl, SecretStr

from tocsin_agents.models.prices import Price
from tocsin_kit.settings import ServiceSettings

_MODEL = "as provider/name; empty: "


class ModelSettings(ServiceSettings):
    """Without a model nothing is asked, and everything that needs none works."""

    model: str = Field(default="", description=f"Model that is asked, {_MODEL}none.")
    model_rca: str = Field(
        default="", description=f"Model that investigates, {_MODEL}TOCSIN_MODEL."
    )
    model_chat: str = Field(
        default="", description=f"Model that talks to people, {_MODEL}TOCSIN_MODEL."
    )
    model_fallbacks: tuple[str, ...] = Field(
        default=(), description="Models that are asked in turn when one is away or refuses."
    )
    model_keys: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="Keys by provider; without one its usual variables count.",
    )
    model_urls: dict[str, HttpUrl] = Field(
        default_factory=dict, description="Addresses by provider, for servers of one's own."
    )
    model_prices: dict[str, Price] = Field(
        default_factory=dict,
        description="US dollars for a million tokens, by model: docs/agents.md#models.",
    )
    model_seconds: float = Field(default=240, gt=0, description="Seconds an answer may take.")
    model_stall_seconds: float = Field(
        default=60, gt=0, description="Seconds until the next piece of an answer must have come."
    )
    model_attempts: int = Field(
        default=3, ge=1, le=10, description="Tries of one model that is away."
    )
