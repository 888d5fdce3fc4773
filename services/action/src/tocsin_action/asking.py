"""Whom people's decisions are asked of, how long they have, and what makes a yes whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from tocsin_contracts import Risk
from tocsin_kit.quorum import LOGIN, ONE, Quorum

TIERS: Mapping[Risk, Quorum] = {
    Risk.LOW: ONE,
    Risk.MEDIUM: ONE,
    Risk.HIGH: Quorum(people=2, alone=LOGIN, refused=("slack",)),
}
"""A chat proves less than a login does, so it approves nothing of high risk."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The operator's rules of approvals."""

    approvers: Sequence[str]
    patience: timedelta
    tiers: Mapping[Risk, Quorum] = field(default_factory=lambda: TIERS)
