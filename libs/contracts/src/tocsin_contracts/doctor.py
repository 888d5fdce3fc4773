"""What an examination of a deployment finds: how each thing is, and what to do about it."""

from enum import StrEnum

from pydantic import Field

from tocsin_contracts.base import Value


class Condition(StrEnum):
    """How a thing is; what nobody could look at is unknown, and never ok."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"
    UNKNOWN = "unknown"


class Finding(Value):
    """One thing that was looked at."""

    part: str = Field(description="Where it belongs, such as `bus` or `slack`.")
    thing: str
    condition: Condition
    told: str = Field(description="What was seen.")
    do: str = Field(default="", description="What to do about it.")
