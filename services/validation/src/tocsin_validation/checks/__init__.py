"""Checks. To add one: write its file, then name it in BUILTIN."""

from tocsin_kit.registry import Registry
from tocsin_validation.checks.amounts import RequestsWithinLimits
from tocsin_validation.checks.branch import BranchIsFree
from tocsin_validation.checks.evidence import EvidenceSupportsClaim
from tocsin_validation.checks.policy import PolicyAllows
from tocsin_validation.checks.pull import NoOpenPull
from tocsin_validation.checks.scope import ScopeIsExact
from tocsin_validation.checks.shown import NewIsShown
from tocsin_validation.checks.value import ValueIsCurrent
from tocsin_validation.ports import Check

BUILTIN: tuple[Check, ...] = (
    EvidenceSupportsClaim(),
    ValueIsCurrent(),
    NewIsShown(),
    RequestsWithinLimits(),
    ScopeIsExact(),
    PolicyAllows(),
    NoOpenPull(),
    BranchIsFree(),
)


def load() -> Registry[Check]:
    """Return every check that is known."""
    return Registry("checks", BUILTIN)
