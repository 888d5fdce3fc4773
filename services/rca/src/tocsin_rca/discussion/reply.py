"""What a model hands in for a comment, as a schema, and what is wrong with it."""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict, Field

from tocsin_contracts import AnswerKind, FieldPath, Scalar
from tocsin_kit.untrusted import line

LONGEST = 1500
_MOST_NAMED = 10


class NewValue(BaseModel):
    """Another value for a field that the plan changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: FieldPath = Field(description="One of the paths that the request lists, spelled so.")
    new: Scalar = Field(description="The value, as the comment says it.")


class Reply(BaseModel):
    """The answer to a comment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: AnswerKind = Field(
        description="answer: it explains; propose: another value is to be checked; disagree: what "
        "is asked for would be wrong, or is not done here."
    )
    words: str = Field(min_length=1, max_length=LONGEST, description="Plain sentences, no markup.")
    evidence: tuple[str, ...] = Field(
        default=(), max_length=20, description="Ids of the evidence that the words rest on."
    )
    change: NewValue | None = Field(default=None, description="For `propose`, and only for it.")


def flaws(reply: Reply, evidence: Iterable[str]) -> str | None:
    """Return all that is wrong, in words that a model can act on; None if it may be said."""
    return "; ".join(_flaws(reply, frozenset(evidence))) or None


def _flaws(reply: Reply, known: frozenset[str]) -> Iterator[str]:
    unknown = sorted(line(id, 20) for id in set(reply.evidence) - known)
    if unknown:
        yield f"there is no evidence {', '.join(unknown[:_MOST_NAMED])}; cite what was shown to you"
    if not reply.evidence and reply.kind is not AnswerKind.DISAGREE:
        yield "it cites no evidence"
    if (reply.change is None) is (reply.kind is AnswerKind.PROPOSE):
        yield "`change` goes with `propose`, and with nothing else"
