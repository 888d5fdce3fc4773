"""What the events of ratings and of settings have of their own, in a form that holds."""

from collections.abc import Callable, Mapping

from tocsin_contracts import Event
from tocsin_contracts.configuring import ConfigChanged
from tocsin_contracts.outcomes import Rateable, Rated
from tocsin_testing.values import Fields

OPERATOR_FIELDS: Mapping[type[Event], Callable[[str], Fields]] = {
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
