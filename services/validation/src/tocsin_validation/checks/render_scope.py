"""Does what is rendered change in the target, and nowhere else?"""

from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode, ObjectRef, Tree
from tocsin_gitops import manifests, trees
from tocsin_gitops.editing import EditRefused
from tocsin_validation.checks.verdicts import failed, passed, unknown, untold
from tocsin_validation.outlook import preview
from tocsin_validation.ports import Consequence, Proposed

Objects = Mapping[ObjectRef, Any]

_SETS = ("env", "volumes")
"""Lists of pods whose items are found by their names."""


class RenderIsExact:
    """The rendered objects differ in what the finding asks for, and in nothing else."""

    name = "render-touches-only-target"
    severity = CheckSeverity.MAJOR
    needs = "what kustomize or Helm renders before and after"
    consequence = Consequence.ESCALATE
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.OUT_OF_SCOPE
    action = "patch the overlay of the one deployment by hand"

    def run(self, change: Proposed) -> CheckResult:
        """Compare both renderings with the finding's changes made on the first."""
        rendered = change.around.rendered
        if rendered.value is None:
            return untold(self.name, rendered)
        if rendered.value.fault:
            return unknown(self.name, "after the change nothing is rendered")
        try:
            pairs = [
                (_objects(text), _objects(rendered.value.after[folder]))
                for folder, text in rendered.value.before.items()
            ]
        except EditRefused as refused:
            return unknown(self.name, f"what is rendered cannot be read: {refused}")
        return self._judged(change, pairs)

    def _judged(self, change: Proposed, pairs: list[tuple[Objects, Objects]]) -> CheckResult:
        if not pairs:
            return passed(self.name, "the file is deployed as it is")
        wrong = [why for before, after in pairs for why in _wrong(change, before, after)]
        if wrong:
            return failed(self.name, "; ".join(dict.fromkeys(wrong)))
        if all(before == after for before, after in pairs):
            return failed(self.name, "nothing of what is rendered changes")
        return passed(self.name, "only the target's declared fields change in what is rendered")


def _wrong(change: Proposed, before: Objects, after: Objects) -> Iterator[str]:
    for ref in before.keys() | after.keys():
        old, new = before.get(ref), after.get(ref)
        if old == new:
            continue
        mine = [one for one in change.hypothesis.finding.changes if _is(ref, one.object)]
        if not mine or old is None or new is None:
            yield f"{ref} changes as well"
        elif _unordered(preview.applied(old, mine)) != _unordered(new):
            yield f"{ref} changes in more than was declared"


def _unordered(value: Tree) -> Tree:
    """Return a copy without the order that means nothing: a patch puts what it names first."""
    if isinstance(value, list):
        return [_unordered(one) for one in value]
    if not isinstance(value, dict):
        return value
    named = {key: _by_name(one) if key in _SETS else one for key, one in value.items()}
    return {key: _unordered(one) for key, one in named.items()}


def _by_name(items: Tree) -> Tree:
    """Variables that refer to each other, and anything that is not named, keep their order."""
    if not isinstance(items, list) or "$(" in str(items):
        return items
    return sorted(items, key=lambda one: str(one.get("name")) if isinstance(one, dict) else "")


def _is(rendered: ObjectRef, wanted: ObjectRef) -> bool:
    same = (rendered.kind, rendered.name) == (wanted.kind, wanted.name)
    return same and rendered.namespace in ("", wanted.namespace)


def _objects(text: str) -> Objects:
    found = manifests.read("rendered.yaml", text.encode())
    return {document.ref: trees.read(document.node) for document in found}
