"""How much care a decision needs: every rule with its reason, in one place. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tocsin_contracts import (
    CheckResult,
    CheckSeverity,
    CheckVerdict,
    EditOp,
    FailureCode,
    Risk,
)
from tocsin_gitops.field_policy import parts
from tocsin_gitops.replacing import replaced
from tocsin_validation.outlook import amounts, preview
from tocsin_validation.outlook.effects import effects
from tocsin_validation.ports import Proposed

MANY_PODS = 10
FEW_OBJECTS = 1
_SYSTEM = ("kube-system", "kube-public", "kube-node-lease", "istio-system", "cert-manager")
_ORDERED = ("StatefulSet", "DaemonSet")
_IMAGES = ("image", "newTag", "digest")
Reason = tuple[Risk, str]


@dataclass(frozen=True, slots=True)
class Judged:
    """All that people are told about a change before they decide."""

    checks: tuple[CheckResult, ...]
    effects: tuple[str, ...]
    risk: Risk
    reasons: tuple[str, ...]


def judged(change: Proposed, checks: Sequence[CheckResult]) -> Judged:
    """Return what the checks, the effects and the rules of risk say together."""
    danger, reasons = assess(change, checks)
    return Judged(tuple(checks), effects(change), danger, reasons)


def assess(change: Proposed, checks: Sequence[CheckResult]) -> tuple[Risk, tuple[str, ...]]:
    """Return the highest risk that any rule sees, and what they see, the gravest first."""
    found = [*_of_edits(change), *reach(change), *_of_checks(checks)]
    order = (Risk.HIGH, Risk.MEDIUM, Risk.LOW)
    found.sort(key=lambda reason: order.index(reason[0]))
    reasons = tuple(dict.fromkeys(why for _, why in found))
    return (found[0][0] if found else Risk.LOW), reasons


def reach(change: Proposed) -> Iterator[Reason]:
    """Yield what makes the blast radius wide: where it is, what it is, and how many it touches."""
    for rule in (_place, _kind, _pods, _objects, _deployments):
        yield from rule(change)


def _of_edits(change: Proposed) -> Iterator[Reason]:
    edits = change.edits
    allowing = [part.rule for edit in edits for part in parts(edit) if part.rule]
    rules: tuple[tuple[Callable[[], bool], str], ...] = (
        (lambda: len(edits) > 1, f"{len(edits)} edits belong together"),
        (lambda: any(e.op is not EditOp.SET for e in edits), "more than a value is set"),
        (
            lambda: any(str(e.at[-1]) in _IMAGES for e in edits if e.at),
            "other code will run: the image changes",
        ),
        (
            lambda: any(rule.careful and not rule.undone for rule in allowing),
            "a name or a right changes, which no bound can judge",
        ),
        (
            lambda: any(rule.undone for rule in allowing),
            "a commit is undone, and no bound judges what it brings back",
        ),
        (lambda: bool(replaced(edits)), "an object has to be made anew"),
    )
    if change.target.chosen_by:
        yield Risk.HIGH, f"the model {change.target.chosen_by} chose the place among several"
    yield from ((Risk.HIGH, why) for holds, why in rules if holds())


def _of_checks(checks: Sequence[CheckResult]) -> Iterator[Reason]:
    """Yield what checks say; how wide a change reaches has been said in full by then."""
    for one in checks:
        grave = one.severity is CheckSeverity.CRITICAL
        if one.verdict is CheckVerdict.FAIL:
            minor = one.severity is CheckSeverity.MINOR
            if one.code is not FailureCode.WIDE:
                yield (Risk.MEDIUM if minor else Risk.HIGH), one.detail
        elif one.verdict is CheckVerdict.UNKNOWN:
            yield (Risk.HIGH if grave else Risk.MEDIUM), f"{one.check} could not be told"


def _place(change: Proposed) -> Iterator[Reason]:
    around = change.around
    names = {edit.of.namespace for edit in change.edits if edit.of} - {""}
    names.add(change.hypothesis.finding.object.namespace)
    for name in sorted(names & set(_SYSTEM)):
        yield Risk.HIGH, f"the namespace {name} serves the whole cluster"
    environment = around.incident.value.environment if around.incident.value else ""
    if around.rules.is_production(*names, environment):
        yield Risk.MEDIUM, "it is in production"


def _kind(change: Proposed) -> Iterator[Reason]:
    kinds = {edit.of.kind for edit in change.edits if edit.of}
    for kind in sorted(kinds & set(_ORDERED)):
        yield Risk.MEDIUM, f"a {kind} changes, which rolls out in place"


def _pods(change: Proposed) -> Iterator[Reason]:
    states = preview.states(change)
    pods = (amounts.replicas(states[1]) or 0) if states and states[0].template else 0
    if pods >= MANY_PODS:
        yield Risk.MEDIUM, f"it concerns {pods} pods"


def _objects(change: Proposed) -> Iterator[Reason]:
    objects = {edit.of for edit in change.edits if edit.of}
    if len(objects) > FEW_OBJECTS:
        yield Risk.HIGH, f"{len(objects)} objects change"


def _deployments(change: Proposed) -> Iterator[Reason]:
    rendered = change.around.rendered.value
    folders = (
        [f for f in rendered.after if rendered.before.get(f) != rendered.after[f]]
        if (rendered)
        else []
    )
    if len(folders) > 1:
        yield Risk.HIGH, f"{len(folders)} deployments share the file: {', '.join(folders)}"
