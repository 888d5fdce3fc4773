"""All of the operator's rules about new runs, as one table of the settings."""

from pydantic import ConfigDict, Field

from tocsin_contracts import Value
from tocsin_ingest.triage.correlation import CorrelationRules
from tocsin_ingest.triage.routing import Route
from tocsin_ingest.triage.silences import Silence
from tocsin_ingest.triage.storms import StormRules
from tocsin_ingest.triage.windows import MaintenanceWindow, Window


class Rules(Value):
    """What triage goes by; a key that it does not know is refused."""

    model_config = ConfigDict(extra="forbid")

    silences: tuple[Silence, ...] = ()
    maintenance: tuple[MaintenanceWindow, ...] = ()
    freezes: tuple[Window, ...] = ()
    routes: tuple[Route, ...] = ()
    correlation: CorrelationRules = Field(default_factory=CorrelationRules)
    storm: StormRules = Field(default_factory=StormRules)
    recheck_minutes: float = Field(
        default=30,
        gt=0,
        description="After so long an alert that is held back is judged anew when it repeats.",
    )
