"""What the events of operators have of their own, in a form that holds."""

from collections.abc import Callable, Mapping
from decimal import Decimal

from tocsin_contracts import (
    BudgetExhausted,
    BudgetExtended,
    BudgetScope,
    Event,
    Exhausted,
    Measure,
    RunId,
)
from tocsin_contracts.configuring import ConfigChanged
from tocsin_contracts.operations import (
    DeadLetterDiscarded,
    DeadLetterReplayed,
    RunEscalationRequested,
    RunRerun,
)
from tocsin_contracts.outcomes import Rateable, Rated
from tocsin_testing.values import Fields


def _letter(_: str) -> Fields:
    return {
        "number": 7,
        "by": "ana",
        "reason": "the manifest is mended",
        "service": "rca",
        "what": "incident.opened.v1",
        "why": "the manifest is no YAML",
    }


OPERATOR_FIELDS: Mapping[type[Event], Callable[[str], Fields]] = {
    BudgetExhausted: lambda _: {
        "agent": "investigator",
        "exhausted": Exhausted(
            measure=Measure.MODEL_CALLS,
            scope=BudgetScope.RUN,
            used=Decimal(20),
            limit=Decimal(25),
        ),
    },
    BudgetExtended: lambda _: {"by": "ana", "surface": "console"},
    RunEscalationRequested: lambda _: {"by": "ana", "reason": "we look ourselves"},
    RunRerun: lambda _: {"of": RunId("r0"), "by": "ana", "reason": "the store is back"},
    DeadLetterReplayed: _letter,
    DeadLetterDiscarded: _letter,
    Rated: lambda _: {
        "by": "ana",
        "about": Rateable.HYPOTHESIS,
        "useful": True,
        "text": "Found it at once.",
        "surface": "gateway",
    },
    ConfigChanged: lambda _: {
        "by": "ana",
        "key": "max_attempts",
        "before": None,
        "after": "7",
    },
}
