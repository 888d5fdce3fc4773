"""Checks. To add one: write its file, then name it in BUILTIN."""

from tocsin_kit.registry import Registry
from tocsin_validation.checks.amounts import RequestsWithinLimits
from tocsin_validation.checks.applies import EditApplies
from tocsin_validation.checks.autoscaler import NoAutoscalerDecides
from tocsin_validation.checks.budget import BudgetLeavesRoom
from tocsin_validation.checks.competing import NoCompetingPull
from tocsin_validation.checks.evidence import EvidenceSupportsClaim
from tocsin_validation.checks.firing import AlertStillFires
from tocsin_validation.checks.freeze import NoFreeze
from tocsin_validation.checks.hostile import NothingHostile
from tocsin_validation.checks.immutable import FieldsAreMutable
from tocsin_validation.checks.later import NoLaterChange
from tocsin_validation.checks.nodes import NodesHaveRoom
from tocsin_validation.checks.policy import PolicyAllows
from tocsin_validation.checks.quantities import QuantitiesAreSound
from tocsin_validation.checks.quota import QuotaHasRoom
from tocsin_validation.checks.radius import BlastRadiusIsSmall
from tocsin_validation.checks.render_scope import RenderIsExact
from tocsin_validation.checks.renders import Renders
from tocsin_validation.checks.schema import SchemaIsValid
from tocsin_validation.checks.scope import ScopeIsExact
from tocsin_validation.checks.secret import NoSecretInChange
from tocsin_validation.checks.shown import NewIsShown
from tocsin_validation.checks.symptom import SymptomIsPresent
from tocsin_validation.checks.value import ValueIsCurrent
from tocsin_validation.checks.writable import TargetIsWritable
from tocsin_validation.ports import Check

BUILTIN: tuple[Check, ...] = (
    EvidenceSupportsClaim(),
    AlertStillFires(),
    SymptomIsPresent(),
    NoLaterChange(),
    ValueIsCurrent(),
    TargetIsWritable(),
    EditApplies(),
    NewIsShown(),
    QuantitiesAreSound(),
    RequestsWithinLimits(),
    ScopeIsExact(),
    PolicyAllows(),
    NothingHostile(),
    NoSecretInChange(),
    SchemaIsValid(),
    Renders(),
    RenderIsExact(),
    FieldsAreMutable(),
    QuotaHasRoom(),
    NodesHaveRoom(),
    BudgetLeavesRoom(),
    NoAutoscalerDecides(),
    NoCompetingPull(),
    NoFreeze(),
    BlastRadiusIsSmall(),
)


def load() -> Registry[Check]:
    """Return every check that is known."""
    return Registry("checks", BUILTIN)
