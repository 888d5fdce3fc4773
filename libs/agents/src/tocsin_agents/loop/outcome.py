"""How an agent's work ended: always one of these, with what there is."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tocsin_contracts import Exhausted
from tocsin_contracts.base import Value


class Ending(StrEnum):
    """Why the loop ended.

    `limited` ended at a limit, with what it had until then. `invalid` did not submit an object of
    its schema, not even when told what was wrong. `refused` is a model that will never answer.
    """

    ANSWERED = "answered"
    LIMITED = "limited"
    CUT_OFF = "cut_off"
    INVALID = "invalid"
    REFUSED = "refused"
    CANCELLED = "cancelled"


class Outcome(Value):
    """The last word of an agent. `data` is a valid object of its schema, whenever it is there."""

    ending: Ending
    agent: str
    text: str = ""
    data: Mapping[str, Any] | None = None
    why: str = ""
    exhausted: Exhausted | None = None
