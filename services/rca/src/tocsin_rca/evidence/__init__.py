"""The case file and the pure reading of it; no IO."""

from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.conclusion import InconclusiveReport, conclude
from tocsin_rca.evidence.observation import (
    LogText,
    Observation,
    ServiceView,
    Unseen,
    number,
    observe,
)
from tocsin_rca.evidence.sightings import Change, ContainerSighting

__all__ = [
    "Case",
    "Change",
    "ContainerSighting",
    "InconclusiveReport",
    "LogText",
    "Observation",
    "ServiceView",
    "Unseen",
    "conclude",
    "number",
    "observe",
]
