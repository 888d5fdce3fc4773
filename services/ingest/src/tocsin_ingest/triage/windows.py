"""Windows of time in which alerts need nobody, or changes have to wait: once, or every week."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from pydantic import AwareDatetime, ConfigDict, model_validator

from tocsin_contracts import Alert, Value
from tocsin_ingest.triage.matchers import Matchers, Selective, all_match, subject
from tocsin_kit.weekly import Span, Weekly


class Window(Value):
    """One window: from an instant to an instant, or every week."""

    model_config = ConfigDict(extra="forbid")

    name: str
    matchers: Matchers = ()
    start: AwareDatetime | None = None
    end: AwareDatetime | None = None
    weekly: Weekly | None = None
    comment: str = ""
    by: str = ""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        once = self.start is not None and self.end is not None
        if (self.start is None) != (self.end is None) or once == (self.weekly is not None):
            raise ValueError(f"window {self.name!r} needs `start` and `end`, or `weekly`")
        if self.start and self.end and self.end <= self.start:
            raise ValueError(f"window {self.name!r} ends before it starts")
        return self

    def span(self, at: datetime) -> Span | None:
        """Return the span of the window that holds an instant."""
        once = [Span(self.start, self.end)] if self.start and self.end else []
        spans = self.weekly.spans(at) if self.weekly else once
        return next((span for span in spans if span.holds(at)), None)

    def said(self, span: Span) -> str:
        """Say which window it is and how long it lasts."""
        why = f": {self.comment}" if self.comment else ""
        by = f" by {self.by}" if self.by else ""
        return f"{self.name!r}{by} holds until {span.end.isoformat()}{why}"


class MaintenanceWindow(Window):
    """A window that holds alerts back, so it must say which."""

    matchers: Selective


@dataclass(frozen=True, slots=True)
class Open:
    """A window that holds now, and until when."""

    window: Window
    span: Span


def freeze_of(windows: Iterable[Window], alert: Alert, at: datetime) -> str:
    """Return which freeze holds for an alert at a time, and until when; empty without one."""
    found = open_window(windows, alert, at)
    return f"change freeze {found.window.said(found.span)}" if found else ""


def open_window(windows: Iterable[Window], alert: Alert, at: datetime) -> Open | None:
    """Return the window that an alert falls into at a time: of several, the one that ends last."""
    labels = subject(alert)
    found = [
        Open(window, span)
        for window in windows
        if (span := window.span(at)) and all_match(window.matchers, labels)
    ]
    return max(found, key=lambda one: (one.span.end, one.window.name), default=None)
