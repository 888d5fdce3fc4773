"""An operator's rules that let a small change through without a person; there are none at first."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tocsin_contracts import CheckVerdict, Edit, EditOp, Hypothesis, Intent, Plan, Risk, Verdict
from tocsin_gitops import hashing, path_rules, quantity
from tocsin_gitops.yaml_paths import path_text

_NAME = r"^[a-z0-9][a-z0-9-]{0,62}$"
_WILDCARD = r"[^.\[\]=]*"


class AutoApproval(BaseModel):
    """One rule. Everything that it names has to fit, and nothing has a default that is wide."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=_NAME, description="The decision is by this rule, and says so.")
    alerts: str = Field(
        pattern=r"\S", description="The class that a route of triage gives: its `auto_approve`."
    )
    environments: tuple[str, ...] = Field(min_length=1, description="As routes of triage say.")
    repositories: tuple[str, ...] = Field(min_length=1, description="Their names, in full.")
    paths: tuple[str, ...] = Field(min_length=1, description="Globs of the files.")
    op: EditOp = Field(description="What an edit does; only `set` can be bounded.")
    fields: tuple[str, ...] = Field(
        min_length=1, description="Paths of fields; `*` stands for a part of one step."
    )
    least: str = Field(description="The least new value, a quantity such as 64Mi or 1.")
    most: str = Field(description="The greatest new value.")
    factor: int = Field(ge=1, description="Times the old value, up or down, at most.")

    @field_validator("op")
    @classmethod
    def _bounded(cls, op: EditOp) -> EditOp:
        if op is not EditOp.SET:
            raise ValueError("only values that are set have bounds; give op: set")
        return op

    @field_validator("least", "most")
    @classmethod
    def _quantity(cls, text: str) -> str:
        try:
            quantity.parse(text)
        except quantity.NotAQuantity as error:
            raise ValueError(str(error)) from error
        return text


@dataclass(frozen=True, slots=True)
class Case:
    """A plan that waits, and what is known about its incident."""

    plan: Plan
    hypothesis: Hypothesis
    alerts: str
    environment: str
    freeze: str


def refusal(rule: AutoApproval, case: Case) -> str:
    """Return the first reason why a rule approves nothing here; empty if it approves."""
    return next(chain(_never(case), _beyond(rule, case)), "")


def _never(case: Case) -> Iterator[str]:
    """What no rule approves, whatever it says."""
    hypothesis = case.hypothesis
    if hypothesis.verdict is not Verdict.CONFIRMED:
        yield f"the cause is {hypothesis.verdict.value}, not confirmed"
    if hypothesis.remark is not None:
        yield "a comment asked for it"
    if hypothesis.amendments:
        yield "a person gave it other values"
    if case.freeze:
        yield f"changes have to wait: {case.freeze}"
    yield from _unsafe(case.plan)


def _unsafe(plan: Plan) -> Iterator[str]:
    if not plan.checks:
        yield "no check has run"
    for check in plan.checks:
        if check.verdict is not CheckVerdict.PASS:
            yield f"the check {check.check} says {check.verdict.value}"
    if plan.risk is Risk.HIGH:
        yield "its risk is high"
    if not plan.edits:
        yield "it changes nothing"
    if hashing.is_undo(plan.issue_key):
        yield "it is an undo"
    if plan.intent is not Intent.OPEN:
        yield "it adds to a pull request that people look at"


def _beyond(rule: AutoApproval, case: Case) -> Iterator[str]:
    """What this rule is not about."""
    if case.alerts != rule.alerts:
        yield "the alert is of another class"
    if case.environment not in rule.environments:
        yield f"the environment {case.environment!r} is not named"
    if case.plan.target.repo not in rule.repositories:
        yield f"the repository {case.plan.target.repo!r} is not named"
    for edit in case.plan.edits:
        yield from _edit(rule, edit)


def _edit(rule: AutoApproval, edit: Edit) -> Iterator[str]:
    where = path_text(edit.path)
    if not path_rules.allowed(edit.file, rule.paths):
        yield f"the file {edit.file!r} is not named"
    if edit.op is not rule.op or edit.undo_of or edit.renders is not None:
        yield f"{where} is not just set in a manifest"
    if not any(_pattern(field).fullmatch(where) for field in rule.fields):
        yield f"the field {where} is not named"
    yield from _value(rule, edit)


def _value(rule: AutoApproval, edit: Edit) -> Iterator[str]:
    try:
        old, new = quantity.parse(edit.old), quantity.parse(edit.new)
    except quantity.NotAQuantity as error:
        yield str(error)
        return
    if not quantity.parse(rule.least) <= new <= quantity.parse(rule.most):
        yield f"{edit.new} is not from {rule.least} to {rule.most}"
    if new > old * rule.factor or old > new * rule.factor:
        yield f"{edit.new} is not within {rule.factor} times {edit.old}"


@cache
def _pattern(field: str) -> re.Pattern[str]:
    return re.compile(_WILDCARD.join(re.escape(part) for part in field.split("*")))
