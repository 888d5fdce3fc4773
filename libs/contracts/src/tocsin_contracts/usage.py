"""What asking a model has taken, and which texts it was told: for bills, and to look into."""

from decimal import Decimal

from pydantic import Field

from tocsin_contracts.base import Value


class PromptPart(Value):
    """A text that a model was told, by its name and hash alone."""

    name: str
    sha256: str


class ModelUse(Value):
    """What one attempt at a run has used. A cost that nobody knows is None, which is not zero."""

    models: tuple[str, ...] = Field(default=(), description="Those that answered.")
    model_calls: int = Field(default=0, ge=0)
    tool_calls: int = Field(default=0, ge=0)
    tokens: int = Field(default=0, ge=0)
    seconds: float = Field(default=0, ge=0)
    cost: Decimal | None = Field(default=Decimal(0), ge=0, description="In US dollars.")
    prompt: tuple[PromptPart, ...] = ()
