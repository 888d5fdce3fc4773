"""Who looks after an alert, where it comes from, and which rules may approve its change."""

from collections.abc import Sequence

from pydantic import ConfigDict

from tocsin_contracts import Alert, Value
from tocsin_ingest.triage.matchers import SOURCE, Matchers, all_match, subject


class Route(Value):
    """What some alerts have in common for people; without matchers it is about every alert."""

    model_config = ConfigDict(extra="forbid")

    matchers: Matchers = ()
    team: str = ""
    environment: str = ""
    auto_approve: str = ""


def route(routes: Sequence[Route], alert: Alert) -> Route:
    """Return what the routes say of an alert: for each field, the first that says anything.

    They may let a change through unasked, so no label says in place of us who sent the alert.
    """
    labels = {**subject(alert), SOURCE: alert.source}
    fitting = [one for one in routes if all_match(one.matchers, labels)]
    return Route(
        team=next((one.team for one in fitting if one.team), ""),
        environment=next((one.environment for one in fitting if one.environment), ""),
        auto_approve=next((one.auto_approve for one in fitting if one.auto_approve), ""),
    )
