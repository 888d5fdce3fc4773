"""What the validation graph remembers while it runs."""

from typing import TypedDict

from tocsin_contracts import Alert, CheckResult, Edit, Event, Hypothesis, Risk, Target


class ValidationState(TypedDict, total=False):
    """One hypothesis on its way to a plan.

    `replaces` is the hash of a plan that went stale. The plan goes to `head_branch`, on top of
    `parent_sha`; where that is not the base, `carried` holds what its files still lack.
    `effects`, `risk` and `risk_reasons` are told to people with the checks.
    `answer` is what the run concludes; once it is set, the remaining steps are skipped.
    """

    run_id: str
    alert: Alert
    hypothesis: Hypothesis
    target: Target
    base_sha: str
    edits: list[Edit]
    replaces: str
    head_branch: str
    parent_sha: str
    carried: list[Edit]
    checks: list[CheckResult]
    effects: list[str]
    risk: Risk
    risk_reasons: list[str]
    answer: list[Event]
