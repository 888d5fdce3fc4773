"""What the cluster says in words: events, conditions and states, else the texts people paste."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.events import ClusterEvent
from tocsin_cluster.manifest import Manifest, dig
from tocsin_cluster.printed import Printed
from tocsin_contracts import ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import LogText, Observation

_LONGEST = 4000
_LONGEST_TEXT = 64_000
_BEFORE = 600
_INDENTED = re.compile(r"\n[ \t]+")
_STATES = (("state", "waiting"), ("state", "terminated"), ("lastState", "terminated"))
_STATUSES = ("containerStatuses", "initContainerStatuses")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence that was seen. `about` is None where nothing says of what it is."""

    id: str
    about: ObjectRef | None
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence that matches what was looked for."""

    statement: Statement
    match: re.Match[str]

    @property
    def id(self) -> str:
        """The evidence that holds the sentence."""
        return self.statement.id

    @property
    def about(self) -> ObjectRef | None:
        """What the sentence is about; None if nothing says so."""
        return self.statement.about


def statements(case: Case) -> tuple[Statement, ...]:
    """Return every event, and every message of a condition or state; events come oldest first."""
    return case.memo.once("statements", lambda: tuple(_statements(case)))


def _statements(case: Case) -> Iterator[Statement]:
    for seen in case.observations:
        data = seen.data
        if isinstance(data, ClusterEvent):
            yield Statement(seen.id, data.about, data.reason, data.message[:_LONGEST])
        elif isinstance(data, Manifest):
            yield from _of_object(seen.id, data)


def told(case: Case, pattern: re.Pattern[str]) -> tuple[Told, ...]:
    """Return the sentences that match: of objects, or if none does, lines of printed texts."""
    found = tuple(
        Told(one, match) for one in statements(case) if (match := pattern.search(one.text))
    )
    return found or tuple(_printed(case, pattern))


def logged(case: Case, pattern: re.Pattern[str]) -> tuple[Told, ...]:
    """Return the first match in every log; `about` is the pod, or None if no log names it."""
    found: list[Told] = []
    for seen, *forms in case.memo.once("log texts", lambda: tuple(_log_texts(case))):
        if match := next(filter(None, map(pattern.search, forms)), None):
            found.append(Told(_of_log(case, seen.id, seen.data, match), match))
    return tuple(found)


def _log_texts(case: Case) -> Iterator[tuple[Observation[LogText], str, str]]:
    for seen in case.logs:
        text = seen.data.text[:_LONGEST_TEXT]
        yield seen, text, _INDENTED.sub(" ", text)


def _of_object(id_: str, one: Manifest) -> Iterator[Statement]:
    ref = one.ref
    for condition in one.items("status", "conditions"):
        message = str(condition.get("message") or "")
        if message:
            yield Statement(id_, ref, str(condition.get("reason") or ""), message[:_LONGEST])
    if message := one.dig("status", "message"):
        yield Statement(id_, ref, str(one.dig("status", "reason") or ""), str(message)[:_LONGEST])
    for status in (s for section in _STATUSES for s in one.items("status", section)):
        for path in _STATES:
            if message := dig(status, *path, "message"):
                reason = str(dig(status, *path, "reason") or "")
                yield Statement(id_, ref, reason, str(message)[:_LONGEST])


def _printed(case: Case, pattern: re.Pattern[str]) -> Iterator[Told]:
    """Look line by line, then across lines: who pastes a sentence may have wrapped it."""
    texts = case.memo.once("printed texts", lambda: tuple(_texts(case)))
    for id_, *forms in texts:
        if match := next(filter(None, map(pattern.search, forms)), None):
            yield Told(Statement(id_, None, "", line_of(match, match.start() - _BEFORE)), match)


def _texts(case: Case) -> Iterator[tuple[str, str, str]]:
    for seen in case.observations:
        if isinstance(seen.data, Printed):
            text = seen.data.text[:_LONGEST_TEXT]
            yield seen.id, text, " ".join(text.split())


def _of_log(case: Case, id_: str, log: LogText, match: re.Match[str]) -> Statement:
    namespaces = {pod.data.ref.namespace for pod in case.pods if pod.data.ref.name == log.pod}
    namespace = next(iter(namespaces), case.workload.namespace if case.workload else "")
    about = ObjectRef(kind="Pod", namespace=namespace, name=log.pod) if log.pod else None
    return Statement(id_, about, "", line_of(match))


def line_of(match: re.Match[str], earliest: int = 0) -> str:
    """Return the line of a text that a match begins on, from an offset at the earliest."""
    text = match.string
    start = max(text.rfind("\n", 0, match.start()) + 1, earliest)
    end = text.find("\n", match.start())
    return text[start : end if end >= 0 else len(text)].strip()[:_LONGEST]
