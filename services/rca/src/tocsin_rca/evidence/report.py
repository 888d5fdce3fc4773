"""What an investigation came to, for a person to read or a program to keep."""

from collections.abc import Iterable, Iterator

from pydantic import Field

from tocsin_contracts import (
    Alert,
    CauseClass,
    Evidence,
    EvidenceKind,
    Finding,
    Hypothesis,
    ObjectRef,
    Value,
    Verdict,
)
from tocsin_kit.untrusted import line
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.conclusion import conclude
from tocsin_rca.evidence.remedy import words

_LONGEST = 300


class Report(Value):
    """The verdict with what proves it, what else it may be, and what could not be seen."""

    alert: Alert
    workload: ObjectRef | None = Field(description="What people edit to change its pods.")
    verdict: Verdict
    why: str = Field(description="Why there is no sure explanation; empty if there is one.")
    finding: Finding | None
    alternatives: tuple[Finding, ...]
    evidence: tuple[Evidence, ...]
    missing: tuple[Evidence, ...]


def report(case: Case, findings: Iterable[Finding]) -> Report:
    """Conclude a case, and keep all that was seen."""
    found = conclude(case, findings, 1, frozenset[CauseClass]())
    seen = [one.evidence for one in case.observations]
    if isinstance(found, Hypothesis):
        verdict, why, ranked = found.verdict, "", (found.finding, *found.alternatives)
    else:
        verdict, why, ranked = Verdict.INCONCLUSIVE, found.why, found.candidates
    return Report(
        alert=case.alert,
        workload=case.workload,
        verdict=verdict,
        why=why,
        finding=ranked[0] if ranked else None,
        alternatives=ranked[1:],
        evidence=tuple(one for one in seen if one.kind is not EvidenceKind.MISSING),
        missing=tuple(one for one in seen if one.kind is EvidenceKind.MISSING),
    )


def markdown(report: Report) -> str:
    """Return the report as Markdown; what others wrote stands on lines of its own, as quotes."""
    return "\n".join(_markdown(report)) + "\n"


def plain(report: Report) -> str:
    """Return the report as text for a terminal."""
    return "\n".join(_plain(report)) + "\n"


def _markdown(report: Report) -> Iterator[str]:
    yield f"# {_said(report.alert.title)}: {report.verdict.value}"
    yield ""
    yield f"About {report.workload or 'nothing that is known'}."
    if report.why:
        yield f"\n{_said(report.why)}"
    for title, findings in _findings(report):
        yield f"\n## {title}\n"
        for finding in findings:
            yield f"- **{finding.cause.value}** ({finding.confidence:.0%}): " + _told(finding)
    yield "\n## Evidence\n"
    cited = _cited(report)
    for one in report.evidence:
        if one.id in cited:
            yield f"- **{one.id}** {one.kind.value}, {_said(one.source)}: {_said(one.query)}"
            yield "\n" + "\n".join(f"  > {row}" for row in one.excerpt.splitlines()) + "\n"
    yield f"{len(report.evidence) - len(cited)} other things were looked at."
    if report.missing:
        yield "\n## Not seen\n"
        yield from (f"- {_said(one.query)}: {_said(one.excerpt)}" for one in report.missing)


def _plain(report: Report) -> Iterator[str]:
    yield f"{_said(report.alert.title)}: {report.verdict.value}"
    yield f"  about {report.workload or 'nothing that is known'}"
    if report.why:
        yield f"  {_said(report.why)}"
    for title, findings in _findings(report):
        yield f"\n{title}"
        for finding in findings:
            yield f"  {finding.confidence:4.0%}  {finding.cause.value}: {_told(finding)}"
    cited = _cited(report)
    yield f"\nEvidence ({len(report.evidence)} things were looked at; * is cited)"
    for one in report.evidence:
        mark = "*" if one.id in cited else " "
        yield f"  {mark} {one.id:>5}  {one.kind.value:8}  {_said(one.query)}"
    if report.missing:
        yield "\nNot seen"
        yield from (f"  {_said(one.query)}: {_said(one.excerpt)}" for one in report.missing)


def _findings(report: Report) -> Iterator[tuple[str, tuple[Finding, ...]]]:
    if report.finding:
        title = "Cause" if report.verdict is not Verdict.INCONCLUSIVE else "What came closest"
        yield title, (report.finding,)
    if report.alternatives:
        yield "What else it may be", report.alternatives


def _told(finding: Finding) -> str:
    asks = "".join(f" {words(change)}." for change in finding.changes)
    because = f" {finding.because}" if finding.because else ""
    cites = f" [{', '.join(finding.evidence)}]"
    return _said(f"{finding.summary}{asks}{because}", 2 * _LONGEST) + cites


def _cited(report: Report) -> frozenset[str]:
    findings = [report.finding] if report.finding else []
    return frozenset(id for one in (*findings, *report.alternatives) for id in one.evidence)


def _said(text: str, limit: int = _LONGEST) -> str:
    return line(text, limit)
