"""What the validation graph remembers while it runs."""

from typing import TypedDict

from tocsin_contracts import Alert, CheckResult, Edit, Event, Hypothesis, Target


class ValidationState(TypedDict, total=False):
    """One hypothesis on its way to a plan.

    `answer` is what the run concludes; once it is set, the remaining steps are skipped.
    """

    run_id: str
    alert: Alert
    hypothesis: Hypothesis
    target: Target
    base_sha: str
    edits: list[Edit]
    checks: list[CheckResult]
    answer: list[Event]
