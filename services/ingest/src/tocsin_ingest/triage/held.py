"""What a rule that holds an alert back says of itself."""

from dataclasses import dataclass
from datetime import datetime

from tocsin_contracts import SuppressionKind


@dataclass(frozen=True, slots=True)
class Held:
    """Why an alert needs nobody now; `until` is None where the rule has no end."""

    kind: SuppressionKind
    rule: str
    by: str = ""
    until: datetime | None = None
