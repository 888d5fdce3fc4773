"""What the notifier's graph remembers while it runs."""

from typing import TypedDict

from tocsin_contracts import Event


class NoticeState(TypedDict, total=False):
    """One event on its way to people.

    `waiting` names the channels that have not shown it, `shown` the one that just has, `failed`
    says why some never will.
    """

    event: Event
    title: str
    text: str
    waiting: list[str]
    shown: str
    failed: list[str]
