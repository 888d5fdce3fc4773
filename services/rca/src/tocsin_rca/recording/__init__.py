"""Keeps what an investigation is answered, so that it can be asked again without the world."""

from tocsin_rca.recording.tape import Attempt, Recording
from tocsin_rca.recording.worlds import RecordedWorld, played

__all__ = ["Attempt", "RecordedWorld", "Recording", "played"]
