"""Alerts that say by their title alone that nothing is wrong."""

from collections.abc import Collection

from tocsin_contracts import Alert


def suppressing_rule(alert: Alert, suppressed_titles: Collection[str]) -> str:
    """Return the rule that suppresses an alert, in words, or an empty string."""
    if alert.title in suppressed_titles:
        return f"alerts called {alert.title!r} are listed in TOCSIN_SUPPRESS_ALERTS"
    return ""
