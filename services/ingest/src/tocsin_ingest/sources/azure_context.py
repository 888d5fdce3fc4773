"""What the context of an Azure Monitor alert tells: where, under which condition, and links."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tocsin_ingest.sources.fields import places, tags, text
from tocsin_ingest.sources.reading import texts

_CLUSTER = re.compile(r"/managedClusters/(?P<name>[^/]+)", re.IGNORECASE)
_WORKLOADS = ("controllername", "controller")
_CONDITION = ("timeAggregation", "metricName", "searchQuery", "operator", "threshold")
_PLAIN = (str, int, float)
_LINKS = ("linkToSearchResultsUI", "linkToFilteredSearchResultsUI", "LinkToSearchResults")


def dimensions_of(context: Mapping[str, Any], targets: Iterable[str]) -> dict[str, str]:
    """Return what tells the alerts of one rule apart, with the place in a cluster as we name it."""
    found = tags(context.get("Dimensions"))
    for criterion in _criteria(context):
        found |= tags(criterion.get("dimensions"))
    properties = context.get("properties")
    tracked = properties if isinstance(properties, Mapping) else {}
    found |= texts({"tracking_id": tracked.get("trackingId")})
    where = places(found)
    for name, value in found.items():
        if name.lower() in _WORKLOADS:
            where["workload"] = value
    for target in targets:
        if cluster := _CLUSTER.search(target):
            where.setdefault("cluster", cluster["name"])
    return where | found


def budget_of(context: Mapping[str, Any]) -> str:
    """Return the name of the budget that an alert of costs is about: no rule has made it."""
    data = context.get("AlertData")
    return texts({"": data.get("BudgetName")}).get("", "") if isinstance(data, Mapping) else ""


def condition_of(context: Mapping[str, Any]) -> str:
    """Return the condition that was met, in one sentence; nothing where none is told."""
    told = (
        " ".join(text(one.get(name)) for name in _CONDITION if isinstance(one.get(name), _PLAIN))
        for one in _criteria(context)
    )
    return "; ".join(filter(None, told))


def links_of(context: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the links to what a search found."""
    return {
        name: link
        for one in (*_criteria(context), context)
        for name in _LINKS
        if isinstance(link := one.get(name), str)
    }


def _criteria(context: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    condition = context.get("condition")
    inner = condition if isinstance(condition, Mapping) else {}
    every = inner.get("allOf")
    listed = every if isinstance(every, list) else [inner]
    return [one for one in listed if isinstance(one, Mapping)]
