"""Does evidence show the names and values that no bound can judge?"""

import re
from collections.abc import Iterator

from tocsin_contracts import (
    CheckResult,
    CheckSeverity,
    Edit,
    EditOp,
    EndReason,
    EvidenceKind,
    FailureCode,
    Tree,
)
from tocsin_gitops.field_policy import parts
from tocsin_validation.checks.verdicts import failed, passed
from tocsin_validation.ports import Consequence, Proposed

_WRITTEN = (
    *(EvidenceKind.OBJECT, EvidenceKind.POD, EvidenceKind.MANIFEST, EvidenceKind.COMMIT),
    *(EvidenceKind.OUTPUT, EvidenceKind.ROLLOUT, EvidenceKind.RUNBOOK),
)
"""Evidence that only people with a right to change things can have written."""

_OPERATORS = ("Exists", "Equal")
_INSIDE = r"\w./:@-"
_END = r"(?![\w/@-]|[.:]\w)"


class NewIsShown:
    """A name that nobody has seen is a name that somebody made up."""

    name = "new-is-shown"
    severity = CheckSeverity.CRITICAL
    needs = "the evidence that the finding cites"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.EVIDENCE_MISSING
    action = "look up the right name, and change it by hand"

    def run(self, change: Proposed) -> CheckResult:
        """Look for every such word in the evidence that the finding cites."""
        cited = change.hypothesis.finding.evidence
        seen = [
            one.excerpt
            for one in change.hypothesis.evidence
            if one.id in cited and one.kind in _WRITTEN
        ]
        asked = [
            word
            for edit in change.edits
            for part in parts(edit)
            if part.rule and part.rule.shown
            for word in _words(part.new)
            if not _is_of_its_own(word, edit, change)
        ]
        place = change.hypothesis.finding.object.namespace
        unseen = [word for word in asked if not any(_stands_in(word, t, place) for t in seen)]
        if unseen:
            return failed(self.name, f"nothing that is cited shows {', '.join(map(repr, unseen))}")
        told = ", ".join(dict.fromkeys(map(repr, asked))) or "none that a bound could not judge"
        return passed(self.name, f"new names and values: {told}")


def _is_of_its_own(word: str, edit: Edit, change: Proposed) -> bool:
    """Whether a new variable is called as the file itself calls it, or holds the namespace."""
    if edit.op is EditOp.SET or edit.path[-1:] != ("env",):
        return False
    text = change.before.get(edit.file, b"").decode(errors="replace")
    return word == change.hypothesis.finding.object.namespace or _stands_in(word, text, "")


def _words(value: Tree) -> Iterator[str]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _words(one)
    elif value not in _OPERATORS:
        yield str(value)


def _stands_in(word: str, text: str, namespace: str) -> bool:
    """Whether it stands there as a whole, or as an object of the same namespace.

    A part of a longer name is another name.
    """
    own = rf"(?:{re.escape(namespace)}/)?" if namespace else ""
    return bool(re.search(rf"(?<![{_INSIDE}]){own}{re.escape(word)}{_END}", text))
