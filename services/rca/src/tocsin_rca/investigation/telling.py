"""What a model is told at the start; every text that others wrote stands between marks."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tocsin_contracts import Evidence, Finding, Rejection
from tocsin_kit.untrusted import clean, line
from tocsin_rca.investigation.known import Known

ROLE = """\
You are asked because no analyzer is sure what causes an alert. Find the cause.
- Begin with the findings and the evidence below. Then look with your tools, which only read.
- Every answer of a tool says its evidence id. Every claim cites ids of evidence that shows it; an
  id that you were not shown is refused.
- Evidence of kind `missing` says that something could not be seen. It shows nothing else, and
  what was not seen is not healthy.
- A finding of the analyzers with more confidence than you have stands, unless you submit a
  contradiction for it that cites evidence.
- Tell the cause from what only follows from it. Prefer a recent change that explains it.
- Propose a change only if its old value was seen and its new one stands in evidence or in the
  history of that very field; a value that you only think right is no value.
- Name only objects that were seen, spelled as they were.
- If what was seen does not show a cause, submit `inconclusive`: a wrong cause costs more.
End by calling `submit`; nothing that you write elsewhere is read."""

MOST_CHARACTERS = 60_000
"""Of a request: it stays whole however long the conversation gets."""

LONGEST_FINDING = 1000
MOST_FINDINGS = 20
MOST_OBJECTS = 80


@dataclass(frozen=True, slots=True)
class Told:
    """The request, and the ids of the evidence in it."""

    text: str
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clusters:
    """What is seen of the clusters, and what the operator says about them: only that instructs."""

    seen: str
    instructions: str = ""


def told(known: Known, clusters: Clusters, room: int, nonce: Callable[[], str]) -> Told:
    """Return what is known in about so many characters; `nonce` makes marks nobody foresees.

    What findings cite comes first where not all evidence has room.
    """
    said = Said(nonce)
    parts = [
        f"Find the cause of the alert in evidence. This is attempt {known.attempt}.",
        said.quoted("Clusters:", clusters.seen),
        *_instructed(clusters),
        said.findings(known.findings),
        said.rejections(known.rejections),
        said.quoted("Objects that were seen:", _objects(known)),
    ]
    shown, pieces = [], []
    left = room - sum(map(len, parts))
    for evidence in _in_order(known):
        piece = said.evidence(evidence)
        if len(piece) <= left:
            left -= len(piece)
            shown.append(evidence.id)
            pieces.append(piece)
    left_out = len(known.evidence) - len(shown)
    if left_out:
        pieces.append(f"{left_out} more pieces of evidence have no room here; use your tools.")
    return Told("\n\n".join([*parts, *pieces]), tuple(shown))


@dataclass(frozen=True, slots=True)
class Said:
    """Puts texts of others between marks."""

    nonce: Callable[[], str]

    def quoted(self, head: str, text: str) -> str:
        """Return a text below a head of our own."""
        mark = self.nonce()
        return f"{head}\n<<<output {mark}>>>\n{clean(text, len(text)).text}\n<<<end {mark}>>>"

    def findings(self, findings: Iterable[Finding]) -> str:
        """Return what the analyzers found, the leading one first."""
        told = "\n".join(map(self._finding, tuple(findings)[:MOST_FINDINGS]))
        return f"Findings of the analyzers, the leading one first:\n{told or 'none'}"

    def rejections(self, rejections: Iterable[Rejection]) -> str:
        """Return which causes checks have ruled out, and why."""
        told = "\n".join(
            self.quoted(f"- {one.cause.value}, because:", "\n".join(one.reasons))
            for one in rejections
        )
        return f"Causes that checks have ruled out:\n{told or 'none'}"

    def evidence(self, evidence: Evidence) -> str:
        """Return one piece of evidence."""
        cut = ", cut" if evidence.truncated else ""
        text = f"{line(evidence.source)}: {line(evidence.query, 300)}\n{evidence.excerpt}"
        return self.quoted(f"evidence {evidence.id} ({evidence.kind.value}{cut}):", text)

    def _finding(self, finding: Finding) -> str:
        cites = ", ".join(finding.evidence)
        head = f"- {finding.cause.value}, confidence {finding.confidence:.2f}, shown by {cites}:"
        text = f"{finding.object}\n{finding.summary}\n{finding.because}".strip()
        return self.quoted(head, clean(text, LONGEST_FINDING).text)


def _instructed(clusters: Clusters) -> Iterator[str]:
    if clusters.instructions:
        yield f"What the operator says about clusters:\n{clusters.instructions}"


def _in_order(known: Known) -> Iterator[Evidence]:
    cited = {id for finding in known.findings for id in finding.evidence}
    yield from (evidence for evidence in known.evidence if evidence.id in cited)
    yield from (evidence for evidence in known.evidence if evidence.id not in cited)


def _objects(known: Known) -> str:
    names = sorted(map(str, known.objects))
    more = len(names) - MOST_OBJECTS
    return "\n".join(names[:MOST_OBJECTS] + ([f"and {more} more"] if more > 0 else []))
