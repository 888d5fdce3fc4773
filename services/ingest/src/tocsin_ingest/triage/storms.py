"""When new runs are a storm, and what the runs of one have in common."""

from pydantic import ConfigDict, Field

from tocsin_contracts import Alert, Severity, Value
from tocsin_ingest.triage.matchers import subject


class StormRules(Value):
    """From which rate on new runs are a storm, and how many are investigated at once."""

    model_config = ConfigDict(extra="forbid")

    new_runs: int = Field(default=100, ge=1, description="More within the window are a storm.")
    window_seconds: float = Field(default=60, gt=0)
    roots: tuple[str, ...] = Field(
        default=("node", "namespace", "cluster", "alertname"),
        description="Labels that runs are brought together by: the first that an alert has.",
    )
    investigations: int = Field(default=16, ge=1, description="At once, in a storm or not.")


RANKS = {
    Severity.CRITICAL: 1,
    Severity.UNKNOWN: 2,
    Severity.WARNING: 2,
    Severity.INFO: 3,
    Severity.NONE: 4,
}
"""Who is investigated first; what nobody has rated may be as bad as a warning."""


def root(alert: Alert, rules: StormRules) -> str:
    """Return what an alert has in common with others of a storm, such as `node worker-3`."""
    labels = subject(alert)
    name = next((name for name in rules.roots if labels.get(name)), "")
    if not name:
        return f"source {alert.source}"
    cluster = labels.get("cluster", "")
    where = f" of {cluster}" if cluster and name != "cluster" else ""
    return f"{name} {labels[name]}{where}"
