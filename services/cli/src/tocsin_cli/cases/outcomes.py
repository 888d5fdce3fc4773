"""What became of a run, as one line of predictions."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from tocsin_cli.cases.recorded import Recorded
from tocsin_contracts import (
    CauseClass,
    Family,
    Finding,
    HypothesisFormed,
    IncidentOpened,
    InvestigationInconclusive,
    Plan,
    PlanDrafted,
    RunFinished,
    RunState,
    Value,
)
from tocsin_gitops import editing
from tocsin_kit.run_view import Run

_NOTHING = (RunState.NO_CHANGE, RunState.SUPPRESSED)


class Action(StrEnum):
    """What Tocsin proposes: a change of files, a person, or nothing at all."""

    EDIT = "edit"
    ESCALATE = "escalate"
    NONE = "none"


class Outcome(Value):
    """One line; `files` holds the whole new text of each file that the plan changes."""

    id: str
    cls: CauseClass | None = None
    family: Family | None = None
    object: str = ""
    action: Action = Action.ESCALATE
    files: Mapping[str, str] = Field(default_factory=dict)
    alternatives: tuple[CauseClass, ...] = ()
    confidence: float = 0
    why: str = ""
    ms: float | None = Field(default=None, description="From the open run to its diagnosis.")


def is_settled(run: Run) -> bool:
    """Whether a run waits for a person by now, or is over."""
    return run.state.terminal or run.fact(PlanDrafted) is not None


def of_run(case: Recorded, run: Run) -> Outcome:
    """Return the outcome of a run that is settled."""
    findings = _findings(run)
    best = findings[0] if findings else None
    action, files = _action(case, run)
    finished = run.fact(RunFinished)
    return Outcome(
        id=case.id,
        cls=best.cause if best else None,
        family=best.cause.family if best else None,
        object=f"{best.object.kind}/{best.object.name}" if best else "",
        action=action,
        files=files,
        alternatives=tuple(dict.fromkeys(one.cause for one in findings[1:])),
        confidence=best.confidence if best else 0,
        why=finished.sentence if finished else "",
        ms=_took(run),
    )


def ignored(case: Recorded) -> Outcome:
    """Return the outcome of an alert that opened no run, such as one that has cleared."""
    none = CauseClass.NO_INCIDENT
    return Outcome(id=case.id, cls=none, family=none.family, action=Action.NONE)


def unknown(case: Recorded) -> Outcome:
    """Return the outcome of a run that did not settle in time."""
    return Outcome(id=case.id, why="the run did not settle in time")


def _findings(run: Run) -> tuple[Finding, ...]:
    formed, unsure = run.fact(HypothesisFormed), run.fact(InvestigationInconclusive)
    if formed and not (unsure and unsure.at > formed.at):
        return (formed.hypothesis.finding, *formed.hypothesis.alternatives)
    return unsure.candidates if unsure else ()


def _action(case: Recorded, run: Run) -> tuple[Action, dict[str, str]]:
    drafted, finished = run.fact(PlanDrafted), run.fact(RunFinished)
    if finished:
        return (Action.NONE if finished.outcome in _NOTHING else Action.ESCALATE), {}
    files = _changed(case, drafted.plan) if drafted else {}
    return (Action.EDIT if files else Action.ESCALATE), files


def _changed(case: Recorded, plan: Plan) -> dict[str, str]:
    """A proposal file asks a person: it changes none of the manifests."""
    before = {file: text.encode() for file, text in case.manifests.items()}
    after = editing.apply(before, plan.edits)
    return {file: data.decode() for file, data in after.items() if file in before}


def _took(run: Run) -> float | None:
    opened, formed = run.fact(IncidentOpened), run.fact(HypothesisFormed)
    told: datetime | None = formed.at if formed else None
    unsure = run.fact(InvestigationInconclusive)
    told = unsure.at if unsure else told
    if opened is None or told is None:
        return None
    return round(1000 * (told - opened.at).total_seconds(), 1)
