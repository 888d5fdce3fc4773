"""The rules of the write policy, and what broke one."""

from dataclasses import dataclass
from enum import StrEnum


class Rule(StrEnum):
    """The rules a change can break."""

    REPOSITORY = "repository"
    OPERATION = "operation"
    PATH = "path"
    MODE = "mode"
    KIND = "kind"
    FIELD = "field"
    BOUND = "bound"
    UNDO = "undo"
    FILES = "files"
    LINES = "lines"
    SIZE = "size"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule, with a sentence that names what broke it."""

    rule: Rule
    detail: str
