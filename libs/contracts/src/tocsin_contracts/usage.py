"""What asking a model has taken, and which texts it was told: for bills, and to look into."""

from decimal import Decimal

from pydantic import Field

from tocsin_contracts.base import Value


class PromptPart(Value):
    """A text that a model was told, by its name and hash alone."""

    name: str
    sha256: str


class ModelUse(Value):
    """What asking a model has used. A cost that nobody knows is None, which is not zero."""

    models: tuple[str, ...] = Field(default=(), description="Those that answered.")
    model_calls: int = Field(default=0, ge=0)
    tool_calls: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0, ge=0)
    cost: Decimal | None = Field(default=Decimal(0), ge=0, description="In US dollars.")
    prompt: tuple[PromptPart, ...] = ()

    def __add__(self, other: "ModelUse") -> "ModelUse":
        """Return both together; with one unknown cost the sum is unknown."""
        unknown = self.cost is None or other.cost is None
        return ModelUse(
            models=tuple(dict.fromkeys((*self.models, *other.models))),
            model_calls=self.model_calls + other.model_calls,
            tool_calls=self.tool_calls + other.tool_calls,
            tokens=self.tokens + other.tokens,
            seconds=self.seconds + other.seconds,
            cost=None if unknown else (self.cost or Decimal(0)) + (other.cost or Decimal(0)),
            prompt=tuple(dict.fromkeys((*self.prompt, *other.prompt))),
        )
