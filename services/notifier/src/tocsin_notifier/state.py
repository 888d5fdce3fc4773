"""What the notifier's graph remembers while it runs."""

from datetime import datetime
from typing import TypedDict

from tocsin_contracts import Event


class NoticeState(TypedDict, total=False):
    """One event on its way to people.

    `to` names the channels it is for, where that was decided before. `waiting` names those that
    have not shown it, `held` those that show it at `until`, `shown` the one that just has,
    `failed` says why some never will.
    """

    event: Event
    to: list[str]
    title: str
    text: str
    waiting: list[str]
    held: list[str]
    until: datetime | None
    shown: str
    failed: list[str]
