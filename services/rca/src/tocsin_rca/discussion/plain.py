"""What is answered without a model: the reasons of the plan, from what the run knows; pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_contracts import CheckVerdict
from tocsin_gitops.yaml_paths import path_text
from tocsin_kit.untrusted import line
from tocsin_rca.discussion.proposing import text
from tocsin_rca.discussion.talk import Talk

UNSET = "No model is set"
_WHY = re.compile(
    r"\b(why|reasons?|causes?|explain|how come|what for|evidence|proof|prove|checks?|undo)\b", re.I
)
_SENTENCE, _MOST = 300, 8


@dataclass(frozen=True, slots=True)
class Told:
    """Words, and the evidence that they rest on."""

    words: str
    cites: tuple[str, ...] = ()


def explained(talk: Talk, without: str = UNSET) -> Told:
    """Return the reasons of the plan to a question for them; `without` says why it is no more."""
    if not _WHY.search(talk.body):
        return Told(
            f"{without}, so only questions for the reasons of this change are answered here, and "
            "no other value is taken from a comment. Nothing is approved, merged or changed by it."
        )
    return Told("\n".join(_reasons(talk)), talk.hypothesis.finding.evidence[:_MOST])


def _reasons(talk: Talk) -> Iterator[str]:
    finding, known = talk.hypothesis.finding, {one.id: one for one in talk.hypothesis.evidence}
    yield f"Cause: {line(finding.summary, _SENTENCE)}"
    if finding.because:
        yield f"Why this value: {line(finding.because, _SENTENCE)}"
    for id in finding.evidence[:_MOST]:
        if id in known:
            yield f"Seen, {id}: {line(known[id].source)}, {line(known[id].query, _SENTENCE)}"
    passed = [one.check for one in talk.plan.checks if one.verdict is CheckVerdict.PASS]
    if passed:
        yield f"Checked: {', '.join(passed)}."
    for change in finding.changes:
        held = "was not there" if change.before is None else f"was {text(change.old)}"
        yield f"Undo: {path_text(change.path)} of {change.object} {held}."
    yield "Close the pull request, or revert its commit once it is merged, to have that again."
