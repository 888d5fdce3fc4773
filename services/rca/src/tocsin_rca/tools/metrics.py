"""Where a trouble begins: which of many services or pods changed when an alert began."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from tocsin_agents.tools.functions import FunctionTool
from tocsin_agents.tools.port import Capability, ToolContext
from tocsin_agents.tools.toolsets import OwnTools
from tocsin_cluster.clusters import ONLY
from tocsin_cluster.context import targets
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line
from tocsin_rca.collectors.metrics import around
from tocsin_rca.collectors.questions import by_label
from tocsin_rca.evidence.localising import deepest, suspects
from tocsin_rca.evidence.series import Series
from tocsin_rca.ports import Clock, Measured, Metrics
from tocsin_rca.tools.arguments import Cluster, Namespace

SERVER = "metrics"
MOST_SUSPECTS = 20

Name = Annotated[
    str,
    Field(pattern="^[a-zA-Z_:][a-zA-Z0-9_:]{0,200}$", description="The name of one metric."),
]
Label = Annotated[
    str,
    Field(
        pattern="^[a-zA-Z_][a-zA-Z0-9_]{0,100}$",
        description="The label that tells the services or pods apart.",
    ),
]
Began = Annotated[AwareDatetime, Field(description="When the alert began, with its time zone.")]
Symptom = Annotated[
    str, Field(description="The value of the label of what the alert is about, if it is one.")
]
Calls = Annotated[
    dict[str, list[str]] | None,
    Field(description="Whom each service calls, by values of the label, as far as it is known."),
]


class MetricTools:
    """The tools of a Prometheus; a query is made of names, so that no other cluster is asked."""

    def __init__(self, metrics: Metrics, clock: Clock) -> None:
        self._metrics = metrics
        self._clock = clock

    def toolset(self) -> OwnTools:
        """Return the tools of the server `metrics`."""
        tool = FunctionTool(self.localise, server=SERVER, capability=Capability.READ)
        return OwnTools(SERVER, (tool,))

    async def localise(
        self,
        context: ToolContext,
        metric: Name,
        label: Label,
        began: Began,
        namespace: Namespace = "",
        *,
        symptom: Symptom = "",
        calls: Calls = None,
        cluster: Cluster = "",
    ) -> dict[str, Any]:
        """Show which services or pods changed when an alert began, where it began first.

        One metric is compared with itself in the hour before, for each value of the label; of a
        counter the rate. The score says how far it moved, in units of how much it moves anyway.
        With `calls`, what calls no other suspect comes first; with `symptom`, what moves as that.
        """
        query = by_label(metric, label, namespace, self._selects(context, cluster))
        start, window = around(began, self._clock.now())
        answer = await self._metrics.over(query, window)
        every = _series(answer, metric, label)
        told = next((one for one in every if one.subject == symptom), None) if symptom else None
        graph = {caller: frozenset(called) for caller, called in (calls or {}).items()}
        found = deepest(suspects(every, start.timestamp(), told), graph)
        return {
            "suspects": [
                {"subject": line(one.subject), "score": round(one.score, 1)}
                for one in found[:MOST_SUSPECTS]
            ],
            "compared": len(every),
            "query": query,
            "warnings": [line(text) for text in answer.warnings],
        }

    def _selects(self, context: ToolContext, cluster: str) -> Mapping[str, str]:
        asked = targets(context.clusters, cluster) if context.clusters.clusters or cluster else ()
        if len(asked) > 1:
            names = ", ".join(one.name for one in asked)
            raise PermanentError(f"name one cluster in `cluster`; there is {names}")
        name = asked[0].name if asked else ""
        return self._metrics.selects("" if name == ONLY else name)


def _series(answer: Measured, metric: str, label: str) -> list[Series]:
    return [
        Series(
            one.labels.get(label, ""),
            metric,
            tuple(sample.at.timestamp() for sample in one.samples),
            tuple(sample.value for sample in one.samples),
        )
        for one in answer.series
    ]
