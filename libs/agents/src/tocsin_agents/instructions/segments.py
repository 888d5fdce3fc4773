"""A system text in named parts, so that its make-up can be recorded without its words."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from tocsin_agents.messages import Message, Role
from tocsin_contracts.base import Value


class SegmentDigest(Value):
    """Which text an agent was told, without the text."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Segment:
    """One part. A stable one is the same in every call, so a provider may cache it.

    `mark` stands around values in the text, and is made anew each time.
    """

    name: str
    text: str
    stable: bool
    mark: str = ""

    @property
    def digest(self) -> SegmentDigest:
        """Its name and the hash of its text, without the mark."""
        text = self.text.replace(self.mark, "") if self.mark else self.text
        return SegmentDigest(name=self.name, sha256=hashlib.sha256(text.encode()).hexdigest())

    @property
    def message(self) -> Message:
        """The part as a model is told it."""
        return Message(role=Role.SYSTEM, text=self.text, stable=self.stable)


def composed(segments: Iterable[Segment]) -> tuple[Segment, ...]:
    """Return the segments that say something, in their order."""
    return tuple(segment for segment in segments if segment.text.strip())
