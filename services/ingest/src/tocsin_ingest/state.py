"""What the triage graph remembers while it runs."""

from typing import TypedDict

from tocsin_contracts import Alert


class TriageState(TypedDict, total=False):
    """One new run on its way through triage; an empty rule means that it deserves work."""

    alert: Alert
    rule: str
    investigate: bool
