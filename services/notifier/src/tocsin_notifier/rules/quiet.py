"""Quiet hours: what can wait is told when they end."""

from datetime import datetime, timedelta

from pydantic import ConfigDict, Field

from tocsin_contracts import (
    ApprovalEscalated,
    ApprovalReminded,
    ApprovalRequested,
    Event,
    Severity,
    Value,
)
from tocsin_kit.tally import rank
from tocsin_kit.weekly import Weekly
from tocsin_notifier.rules.routes import About, Names, about
from tocsin_notifier.rules.standing import Standing

TO_DECIDE = timedelta(minutes=30)
"""What people need to be left with after quiet hours, to decide about an approval."""

LONGEST = timedelta(days=7)
"""Hours that follow each other without an end are over after so long."""


class Quiet(Value):
    """Hours in which messages about runs below a severity wait; on all channels but the log."""

    model_config = ConfigDict(extra="forbid")

    hours: tuple[Weekly, ...] = Field(min_length=1)
    below: Severity = Severity.CRITICAL
    channels: Names = ()

    def keeps(self, channel: str) -> bool:
        """Whether a channel has quiet hours."""
        return channel in self.channels if self.channels else channel != "log"

    def waits(self, event: Event, whose: Standing, at: datetime) -> datetime | None:
        """Return until when the message of an event waits; None if it does not.

        What is grave does not, nor what nobody knows the severity of, nor a storm, nor an approval
        that would end before anybody could decide.
        """
        if whose.severity is Severity.UNKNOWN or rank(whose.severity) >= rank(self.below):
            return None
        end = self.end(at)
        if end is None or about(event) is About.STORM or _ends_before(event, end):
            return None
        return end

    def end(self, at: datetime) -> datetime | None:
        """Return when the quiet time that holds an instant is over; None if none holds it."""
        end = at
        while end - at < LONGEST:
            ends = [s.end for hours in self.hours for s in hours.spans(end) if s.holds(end)]
            if not ends:
                break
            end = max(ends)
        return end if end > at else None


def _ends_before(event: Event, end: datetime) -> bool:
    return (
        isinstance(event, ApprovalRequested | ApprovalReminded | ApprovalEscalated)
        and event.expires_at < end + TO_DECIDE
    )
