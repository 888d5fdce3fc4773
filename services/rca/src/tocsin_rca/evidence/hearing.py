"""What programs say of themselves: in logs, or else in how they ended, or to those who ask."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.printed import Command, Printed
from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import owner_of, proof, sure
from tocsin_rca.evidence.lines import NO_SPEECH
from tocsin_rca.evidence.observation import LogText, Observation
from tocsin_rca.evidence.shapes import distinct
from tocsin_rca.evidence.statements import Statement, Told, line_of, statements

_LONGEST = 48_000
_LONGEST_LINE = 1000
_FIRST_LINES, _LAST_LINES = 80, 240
_MOST_MATCHES = 20
_QUOTE = 160
_CALM = re.compile(
    r"(?i)\blevel=\"?(?:info|debug|trace)\b|\"level\": ?\"(?:info|debug)\"|\b(?:INFO|DEBUG)\b"
)
_WRONG = re.compile(r"(?i)error|fail|fatal|panic|exception|denied|refused|invalid|unable|cannot")
_OF_THE_KUBELET = ("Unhealthy", "ProbeWarning", "ErrImagePull", "ImagePullBackOff")
_OF_A_PULL = ("Failed to pull image", "Back-off pulling image")
_ASKED = ("exec", "apply", "create", "run", "rollout", "debug", "auth")
"""Verbs of kubectl whose answers are not objects that were read already."""

_SHOWN = ("describe", "get")
_BUILDING = re.compile(r"(?i)build failed|failed to (?:generate manifest|load target state)")
_REFUSED = re.compile(r"\s{0,20}(?:Error from server|Unable to connect to the server|error: )")


@dataclass(frozen=True, slots=True)
class Saying:
    """How programs say one thing; `means` is the sentence in which `{said}` quotes the line."""

    cause: CauseClass
    pattern: re.Pattern[str]
    confidence: float
    means: str


def heard(case: Case, pattern: re.Pattern[str]) -> tuple[Told, ...]:
    """Return the first match in each log; where there is none, of endings, of checks, of alerts."""
    for source in (_logs, _endings, _answers, _alert):
        if found := tuple(source(case, pattern)):
            return found
    return ()


def findings(case: Case, *sayings: Saying) -> tuple[Finding, ...]:
    """Return a finding for each saying that was heard, about the workload that said it."""
    found: dict[CauseClass, Finding] = {}
    for saying in sayings:
        told = heard(case, saying.pattern)
        if told and saying.cause not in found:
            found[saying.cause] = _finding(case, saying, told)
    return tuple(found.values())


def subject(case: Case, about: ObjectRef | None = None) -> ObjectRef:
    """Return what people edit for an object; of nothing known, what the alert is about."""
    owner = owner_of(case, about) or case.workload or case.named
    return owner or ObjectRef(
        kind="Namespace", name=case.alert.labels.get("namespace") or "unknown"
    )


def quoted(told: Told) -> str:
    """Return the line that was said, cut around the match."""
    line, word = line_of(told.match), told.match.group().strip()
    if len(line) <= 2 * _QUOTE:
        return line
    start = max(0, line.find(word[:_QUOTE]) - _QUOTE // 2)
    return line[start : start + 2 * _QUOTE].strip()


def _finding(case: Case, saying: Saying, told: tuple[Told, ...]) -> Finding:
    first = told[0]
    named = {name: text or "" for name, text in first.match.groupdict().items()}
    return Finding(
        cause=saying.cause,
        object=subject(case, first.about),
        confidence=sure(case, first.about, saying.confidence),
        summary=saying.means.format(**named, who=subject(case, first.about), said=quoted(first)),
        evidence=proof(case, *(one.id for one in told)),
    )


def _logs(case: Case, pattern: re.Pattern[str]) -> Iterator[Told]:
    for seen, text in case.memo.once("heard logs", lambda: tuple(_brief_logs(case))):
        if match := _alarming(pattern, text):
            about = _pod(case, seen.data.pod) if seen.data.pod else None
            yield Told(Statement(seen.id, about, "", line_of(match)), match)


def _brief_logs(case: Case) -> Iterator[tuple[Observation[LogText], str]]:
    return ((seen, _brief(seen.data.text)) for seen in case.logs)


def _brief(text: str) -> str:
    """Return the end of a text without lines that say the same but for their numbers."""
    kept = [line[:_LONGEST_LINE] for line, _ in distinct(text[-_LONGEST:].splitlines())]
    return "\n".join((*kept[:_FIRST_LINES], *kept[_FIRST_LINES:][-_LAST_LINES:]))


def _endings(case: Case, pattern: re.Pattern[str]) -> Iterator[Told]:
    for one in statements(case):
        if one.reason in _OF_THE_KUBELET or one.text.startswith(_OF_A_PULL):
            continue
        if match := pattern.search(one.text):
            yield Told(one, match)


def _answers(case: Case, pattern: re.Pattern[str]) -> Iterator[Told]:
    for seen, *texts in case.memo.once("heard answers", lambda: tuple(_brief_answers(case))):
        if match := next(filter(None, (_alarming(pattern, text) for text in texts)), None):
            yield Told(Statement(seen.id, None, "", line_of(match)), match)


def _brief_answers(case: Case) -> Iterator[tuple[Observation[Printed], str, str]]:
    """Each with its text, and that on one line: what was printed may be wrapped."""
    for seen in (*case.checks, *case.texts()):
        text = seen.data.text
        if seen.data.command.tool in NO_SPEECH and _BUILDING.search(text):
            continue
        if seen.data.command.of_kubectl and not _is_unread(seen.data.command, text):
            text = "\n".join(line for line in text.splitlines() if _REFUSED.match(line))
        if text:
            brief = _brief(text)
            yield seen, brief, " ".join(brief.split()) if "\n" in brief else ""


def _is_unread(command: Command, text: str) -> bool:
    """Whether its answer is no object, one of a kind that nothing reads, or a part of one."""
    if command.verb == "describe" and not command.names and "Name:" not in text:
        return not any(words in text for words in _OF_A_PULL)
    return command.verb in _ASKED or (command.verb in _SHOWN and not command.kind)


def _alert(case: Case, pattern: re.Pattern[str]) -> Iterator[Told]:
    alert = case.alert
    text = "\n".join((alert.title, alert.summary, *alert.annotations.values()))[:_LONGEST]
    first = next(iter(case.observations), None)
    if first and (match := pattern.search(text)):
        yield Told(Statement(first.id, None, "", line_of(match)), match)


def _alarming(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the first match on a line that is not calm about it."""
    for _, match in zip(range(_MOST_MATCHES), pattern.finditer(text), strict=False):
        line = line_of(match)
        if not _CALM.search(line) or _WRONG.search(line):
            return match
    return None


def _pod(case: Case, name: str) -> ObjectRef:
    for seen in (*case.pods, *case.objects("Pod")):
        if seen.data.ref.name == name:
            return seen.data.ref
    return ObjectRef(kind="Pod", namespace=subject(case).namespace, name=name)
