"""Alerts that the command line sends, in the form in which Alertmanager would send them."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tocsin_contracts import AlertStatus

TEST = "TocsinTest"
_TEST_SUMMARY = "A test of the way of an alert. Nothing is wrong, and nothing will be changed."


@dataclass(frozen=True, slots=True)
class Alarm:
    """One alert; its title, severity and labels are who it is."""

    title: str
    severity: str = ""
    summary: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    def notification(self, status: AlertStatus, at: datetime) -> bytes:
        """Return the body that says that it fires, or no longer does, since `at`."""
        severity = {"severity": self.severity} if self.severity else {}
        since = "endsAt" if status is AlertStatus.RESOLVED else "startsAt"
        alert = {
            "status": status.value,
            "labels": {"alertname": self.title, **severity, **self.labels},
            "annotations": {"summary": self.summary} if self.summary else {},
            since: at.isoformat(),
        }
        return json.dumps({"version": "4", "status": status.value, "alerts": [alert]}).encode()


def harmless() -> Alarm:
    """Return an alert about a workload that nobody has, so that it can only end with a person.

    Each is about another one: it opens a run of its own.
    """
    workload = f"tocsin-test-{secrets.token_hex(3)}"
    labels = {"namespace": "tocsin-test", "deployment": workload, "tocsin_test": "true"}
    return Alarm(TEST, "info", _TEST_SUMMARY, labels)
