"""How many people it takes to approve a plan, and from where."""

from pydantic import BaseModel, ConfigDict, Field

LOGIN = ("gateway", "console")
"""Surfaces where people prove who they are: the API, which the command line uses, and the console.
"""

_NAMES = {"gateway": "the command line", "console": "the console", "slack": "Slack"}


def _spoken(surfaces: tuple[str, ...]) -> str:
    return " or ".join(_NAMES.get(one, one) for one in surfaces)


class Quorum(BaseModel):
    """What makes a yes whole; one no is always enough."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    people: int = Field(default=1, ge=1, description="Different people who have to say yes.")
    alone: tuple[str, ...] = Field(
        default=(), description="Surfaces on which the yes of one person is enough."
    )
    refused: tuple[str, ...] = Field(
        default=(), description="Surfaces from which no yes is taken at all."
    )

    def __str__(self) -> str:
        told = "1 person" if self.people == 1 else f"{self.people} people"
        if self.alone and self.people > 1:
            told = f"1 person by {_spoken(self.alone)}, or {told}"
        return f"{told}; a yes by {_spoken(self.refused)} does not count" if self.refused else told

    def takes(self, surface: str) -> bool:
        """Whether a yes from a surface counts."""
        return surface not in self.refused


ONE = Quorum()
"""One approver, wherever they are."""
