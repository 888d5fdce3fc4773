"""What was done to a forge."""

from typing import ClassVar

from tocsin_contracts.event import Event
from tocsin_contracts.states import RunState


class PullRequestOpened(Event):
    """The approved plan is a pull request now."""

    topic: ClassVar[str] = "action.pull-request-opened.v1"
    moves_to: ClassVar[RunState | None] = RunState.PR_OPEN

    repo: str
    url: str
    head_branch: str
    commit: str
    plan_hash: str
    title: str
