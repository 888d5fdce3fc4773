"""Where people go on looking: the Explore page of a Grafana."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Protocol
from urllib.parse import urlencode

from tocsin_kit.clock import millis


class Shown(Protocol):
    """A backend that a Grafana shows."""

    @property
    def page_url(self) -> str:
        """Where that Grafana is; empty if there is none."""

    @property
    def datasource(self) -> str:
        """What the backend is called there."""


def explore(shown: Shown, query: Mapping[str, str], start: datetime, end: datetime) -> str:
    """Return the page of a query and a time; empty if no Grafana shows the backend."""
    if not shown.page_url or not shown.datasource:
        return ""
    pane = {
        "datasource": shown.datasource,
        "queries": [{"refId": "A", **query}],
        "range": {"from": str(millis(start)), "to": str(millis(end))},
    }
    asked = urlencode({"schemaVersion": 1, "panes": json.dumps({"a": pane})})
    return f"{shown.page_url.rstrip('/')}/explore?{asked}"
