"""What every source needs to read a payload: typed models, and faults that name their field."""

from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from tocsin_ingest import values
from tocsin_ingest.ports import BadPayloadError

Moment = Annotated[datetime | None, BeforeValidator(values.moment)]
"""A time however a sender writes it; None where it says none."""

M = TypeVar("M", bound=BaseModel)
FAULTS = 5
"""How many faults of one payload are named."""


class Sent(BaseModel):
    """A part of a payload: the fields that we read; what else a sender sends is no fault."""

    model_config = ConfigDict(extra="ignore")


def read(model: type[M], payload: Any, what: str) -> M:
    """Return the payload as the model; BadPayloadError names the fields that are not as they must.

    `what` is how the sender calls it: `an Alertmanager notification`.
    """
    try:
        return model.model_validate(payload)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'the body'}: {one['msg']}"
            for one in error.errors(include_input=False, include_url=False)[:FAULTS]
        )
        raise BadPayloadError(f"not {what}: {faults}") from None


def texts(entries: dict[str, Any]) -> dict[str, str]:
    """Return the entries that can stand as labels: plain values as text, nothing nested."""
    return {
        name: _text(value)
        for name, value in entries.items()
        if isinstance(value, str | int | float | bool) and value != ""
    }


def _text(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
