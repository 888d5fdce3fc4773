"""Splunk's webhook alert action: a saved search found something."""

import re
from datetime import datetime
from typing import Any

from pydantic import Field

from tocsin_ingest import values
from tocsin_ingest.ports import Delivery, Reading
from tocsin_ingest.sources.fields import Loose, Text, moment_or_none, places
from tocsin_ingest.sources.reading import read, texts

_RUN_AT = re.compile(r"_at_(\d{9,10})(?:[_.]|$)")
_SEVERITIES = ("severity", "urgency", "priority")
_PLACES = ("host", "source", "sourcetype", "index")


class _Search(Loose):
    search_name: str = Field(min_length=1)
    sid: Text = ""
    app: Text = ""
    owner: Text = ""
    results_link: Text = ""
    result: dict[str, Any] = Field(default_factory=dict)


class Splunk:
    """Reads the search and its first result; Splunk never tells that a search finds nothing now."""

    name = "splunk"

    def parse(self, delivery: Delivery) -> list[Reading]:
        """Return the one alert of a search."""
        search = read(_Search, delivery.payload, "a Splunk alert")
        found = texts(search.result)
        shown = {name: value for name, value in found.items() if not name.startswith("_")}
        where = {name: found[name] for name in _PLACES if name in found}
        return [
            Reading(
                title=search.search_name,
                severity=next((found[name] for name in _SEVERITIES if name in found), ""),
                summary=found.get("_raw", ""),
                labels={"alertname": search.search_name} | where | places(shown),
                annotations=shown,
                starts_at=_found_at(search, found),
                links=values.links({"source": search.results_link}),
                key=f"{search.app}/{search.search_name}",
            )
        ]


def _found_at(search: _Search, found: dict[str, str]) -> datetime | None:
    """Return when the result happened, else when the search ran, which its id tells."""
    ran = _RUN_AT.search(search.sid)
    told = (found.get("_time"), ran and ran[1])
    return next(filter(None, map(moment_or_none, told)), None)
