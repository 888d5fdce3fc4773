"""What the action graph remembers while it runs."""

from typing import TypedDict

from tocsin_contracts import Alert, Event, Hypothesis, Plan


class ActionState(TypedDict, total=False):
    """One plan between its gate and its pull request.

    `decided` is set where the decision is known before the gate is reached: the graph was lost
    while people thought. `answer` is what the run concludes.
    """

    run_id: str
    alert: Alert
    hypothesis: Hypothesis
    plan: Plan
    team: str
    decided: bool
    commit: str
    url: str
    answer: Event | None
