"""The questions of one investigation with their answers, as they are kept and played again."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Protocol, TypeVar

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from tocsin_contracts import Alert, CauseClass, Rejection, RelatedAlert, Value
from tocsin_kit.errors import PermanentError, TocsinError
from tocsin_rca.evidence.comparison import Summary
from tocsin_rca.recording.masking import Masking

T = TypeVar("T")


class Heard(Value):
    """What a question was answered, or why it was not."""

    answer: Any = None
    error: str = ""


class Told(Value):
    """Who answered for the cluster, and when that was true; None for the time of the recording."""

    source: str
    recorded_at: AwareDatetime | None = None


class Attempt(Value):
    """What was investigated, and what the analyzers made of it."""

    alert: Alert
    number: int
    rejected: tuple[CauseClass, ...]
    news: tuple[RelatedAlert, ...]
    rejections: tuple[Rejection, ...] = ()
    concluded: Summary


class Recording(Value):
    """All that one attempt was told, masked; a source that nobody asked has no name."""

    attempt: Attempt
    at: AwareDatetime
    cluster: Told
    history: str
    metrics: str = ""
    label: dict[str, str] = Field(default_factory=dict)
    runbooks: tuple[str, ...] = ()
    past: str = ""
    heard: dict[str, Heard]


class Tape(Protocol):
    """Knows the answers to questions, or gets them."""

    async def answer(
        self, question: str, kind: TypeAdapter[T], ask: Callable[[], Awaitable[T]]
    ) -> T:
        """Return the answer; raises what asking raises."""


class Recorder:
    """Asks, and remembers the first answer to each question."""

    def __init__(self) -> None:
        self._answers: dict[str, tuple[TypeAdapter[Any], Any]] = {}
        self._errors: dict[str, str] = {}

    async def answer(
        self, question: str, kind: TypeAdapter[T], ask: Callable[[], Awaitable[T]]
    ) -> T:
        """Ask, and remember."""
        try:
            found = await ask()
        except TocsinError as error:
            self._errors.setdefault(question, str(error))
            raise
        self._answers.setdefault(question, (kind, found))
        return found

    def heard(self) -> dict[str, Heard]:
        """Return all that was answered, masked; it takes its time."""
        masking = Masking()
        failed = {
            question: Heard(error=masking.masked(why)) for question, why in self._errors.items()
        }
        told = {
            question: Heard(
                answer=masking.masked(kind.dump_python(found, mode="json", fallback=str))
            )
            for question, (kind, found) in self._answers.items()
        }
        return failed | told


class Player:
    """Answers from a recording; asks nobody."""

    def __init__(self, recording: Recording) -> None:
        self._heard = recording.heard
        self._at = recording.at

    def now(self) -> datetime:
        """Return the time of the recording."""
        return self._at

    async def answer(
        self, question: str, kind: TypeAdapter[T], ask: Callable[[], Awaitable[T]]
    ) -> T:
        """Return what was answered then; PermanentError for what was not."""
        del ask
        heard = self._heard.get(question)
        if heard is None:
            raise PermanentError("it was not asked when the run was recorded")
        if heard.error:
            raise PermanentError(heard.error)
        try:
            return kind.validate_python(heard.answer)
        except ValidationError as error:
            raise PermanentError("its recorded answer is of another version") from error
