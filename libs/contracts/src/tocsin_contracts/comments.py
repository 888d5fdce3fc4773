"""What becomes of a comment that a person wrote on a pull request of ours."""

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from tocsin_contracts.alert import Alert
from tocsin_contracts.diagnosis import Evidence, Hypothesis
from tocsin_contracts.event import Event
from tocsin_contracts.forge import Remark
from tocsin_contracts.plan import Plan
from tocsin_contracts.states import RunState
from tocsin_contracts.usage import ModelUse


class AnswerKind(StrEnum):
    """What an answer does: it explains, it proposes a change, or it says why not."""

    ANSWER = "answer"
    PROPOSE = "propose"
    DISAGREE = "disagree"


class CommentAnswered(Event):
    """A comment has an answer; what it proposes is told, and checked, by itself."""

    topic: ClassVar[str] = "rca.comment-answered.v1"

    remark: Remark
    kind: AnswerKind
    words: str = Field(description="Of a model or of an analyzer: shown as text, never rendered.")
    cites: tuple[str, ...] = Field(default=(), description="Ids of the evidence it rests on.")
    gathered: tuple[Evidence, ...] = Field(
        default=(), description="What of it was looked at for this answer."
    )
    model_use: ModelUse | None = Field(
        default=None, description="What all answers of the run have used so far."
    )


class CommentIgnored(Event):
    """A comment on a pull request of ours got no answer, and why not."""

    topic: ClassVar[str] = "rca.comment-ignored.v1"

    remark: Remark
    why: str


class ChangeProposed(Event):
    """A comment asks for another value; it becomes a plan of its own, or nothing."""

    topic: ClassVar[str] = "rca.change-proposed.v1"

    alert: Alert
    hypothesis: Hypothesis
    plan: Plan = Field(description="What is written so far.")
    explanation: Hypothesis = Field(description="Why that was written.")


class ProposalDropped(Event):
    """What a comment asked for comes to nothing; the pull request stays as it was."""

    topic: ClassVar[str] = "run.proposal-dropped.v1"
    moves_to: ClassVar[RunState | None] = RunState.PR_OPEN

    remark: Remark
    why: str
