"""A tie that a model may break: asked by request and reply, stored by nobody."""

from typing import ClassVar

from pydantic import Field

from tocsin_contracts.base import Value
from tocsin_contracts.event import RunId
from tocsin_contracts.workload import ObjectRef

MOST_TIED = 10


class TieAsked(Value):
    """Which of these places an object comes from, where rules alone cannot tell."""

    subject: ClassVar[str] = "tocsin-ask.rca.tie"

    run_id: RunId = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    source: str = Field(description="The source of alerts whose day pays for the answer.")
    about: ObjectRef
    title: str = Field(max_length=300, description="The alert, as others wrote it.")
    candidates: tuple[str, ...] = Field(min_length=2, max_length=MOST_TIED)


class TieAnswer(Value):
    """One of the candidates by its position; None if whoever was asked cannot tell either."""

    chosen: int | None = Field(default=None, ge=0, lt=MOST_TIED)
    why: str = Field(default="", max_length=300)
    model: str = Field(default="", max_length=120, description="Who chose.")
