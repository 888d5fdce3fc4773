"""The frozen base of every value object: immutable, and blind to fields it does not know."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """An immutable value; unknown fields are ignored, so adding one never breaks a reader."""

    model_config = ConfigDict(frozen=True, extra="ignore")
