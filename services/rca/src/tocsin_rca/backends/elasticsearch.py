"""Elasticsearch and OpenSearch: what programs wrote, asked in the syntax of a search box."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_rca.backends.answers import Minutes, Until, Whole, moment, window
from tocsin_rca.backends.client import Client
from tocsin_rca.backends.log_lines import LogLine, Logs, Part, Shapes, logs
from tocsin_rca.backends.options import BackendOptions, Read

MOST_READ = 500
_PARTS = 12
_WHO = (
    ("kubernetes", "pod", "name"),
    ("kubernetes", "pod_name"),
    ("service", "name"),
    ("container", "name"),
    ("host", "name"),
)

Query = Annotated[
    str,
    Field(
        max_length=2000,
        description='What is searched for, such as kubernetes.namespace:shop AND "refused"; '
        "empty for everything.",
    ),
]
IndexPattern = Annotated[str, Field(pattern=r"^[a-z0-9*.,_:<>-]{1,200}$")]


class ElasticsearchOptions(BackendOptions):
    """An Elasticsearch or OpenSearch with logs; a token is an API key, or a user's password."""

    type: Literal["elasticsearch", "opensearch"]
    index: IndexPattern = Field(
        default="logs-*", description="The only indices that are searched, as a pattern."
    )
    time_field: str = Field(default="@timestamp", description="Field of the time of a line.")
    message_field: str = Field(default="message", description="Field of its text.")

    def credentials(self, read: Read) -> Mapping[str, str]:
        """Return a key as Elasticsearch takes it."""
        if self.token and not self.user:
            return {"Authorization": f"ApiKey {read(self.token)}"}
        return super().credentials(read)

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        return (ElasticsearchTools(client, self).logs,)


class _Total(BaseModel):
    value: int


class _Hit(BaseModel):
    source: dict[str, Any] = Field(default={}, alias="_source")
    fields: dict[str, list[Any]] = {}


class _Hits(BaseModel):
    total: _Total
    hits: list[_Hit]


class _Bucket(BaseModel):
    key: Whole
    count: int = Field(alias="doc_count")


class _Buckets(BaseModel):
    buckets: list[_Bucket]


class _Answer(BaseModel):
    hits: _Hits
    aggregations: dict[Literal["over_time"], _Buckets] = {}


class ElasticsearchTools:
    """One method a tool."""

    def __init__(self, client: Client, options: ElasticsearchOptions) -> None:
        self._client = client
        self._options = options

    async def logs(
        self, query: Query = "", until: Until = None, minutes: Minutes = 30, shapes: Shapes = 20
    ) -> Logs:
        """Show what was written in a time; lines that differ only in numbers are counted as one."""
        start, end = window(until, minutes, self._client.clock.now())
        body = self._question(query, start, end)
        path = f"/{quote(self._options.index, safe='*,')}/_search"
        lenient = {"ignore_unavailable": "true", "allow_no_indices": "true"}
        answer = await self._client.search(_Answer, path, body, lenient)
        lines = [self._line(hit) for hit in answer.hits.hits]
        found = answer.aggregations.get("over_time", _Buckets(buckets=[])).buckets
        parts = [Part(since=moment(one.key / 1000), count=one.count) for one in found]
        link = self._link(query, start, end)
        return logs(lines, shapes, total=answer.hits.total.value, over_time=parts, link=link)

    def _question(self, query: str, start: datetime, end: datetime) -> dict[str, Any]:
        chosen = self._options
        during = {"gte": start.isoformat(), "lte": end.isoformat()}
        wanted: list[dict[str, Any]] = [{"range": {chosen.time_field: during}}]
        if query.strip():
            wanted.append({"query_string": {"query": query, "default_field": chosen.message_field}})
        parts = {"field": chosen.time_field, "fixed_interval": _interval(start, end)}
        return {
            "size": MOST_READ,
            "timeout": f"{round(self._options.seconds * 800)}ms",
            "track_total_hits": True,
            "query": {"bool": {"filter": wanted}},
            "sort": [{chosen.time_field: "desc"}],
            "_source": [chosen.message_field, *(".".join(path) for path in _WHO)],
            "docvalue_fields": [{"field": chosen.time_field, "format": "epoch_millis"}],
            "aggs": {"over_time": {"date_histogram": parts}},
        }

    def _line(self, hit: _Hit) -> LogLine:
        who = (_dig(hit.source, path) for path in _WHO)
        millis = (hit.fields.get(self._options.time_field) or ["0"])[0]
        text = _dig(hit.source, tuple(self._options.message_field.split(".")))
        return LogLine(moment(f"{millis}e-3"), text, next(filter(None, who), ""))

    def _link(self, query: str, start: datetime, end: datetime) -> str:
        if not self._options.page_url:
            return ""
        time = f"(time:(from:'{start:%Y-%m-%dT%H:%M:%SZ}',to:'{end:%Y-%m-%dT%H:%M:%SZ}'))"
        text = query.replace("!", "!!").replace("'", "!'")
        asked = f"(query:(language:lucene,query:'{text}'))"
        return f"{self._options.page}/app/discover#/?_g={quote(time)}&_a={quote(asked)}"


def _interval(start: datetime, end: datetime) -> str:
    return f"{max(1, round((end - start).total_seconds() / _PARTS))}s"


def _dig(source: Any, path: Sequence[str]) -> str:
    """Return a text, whether its path is one of objects or one name with dots."""
    if isinstance(source, Mapping) and ".".join(path) in source:
        return str(source[".".join(path)])
    for step in path:
        source = source.get(step) if isinstance(source, Mapping) else None
    return source if isinstance(source, str) else ""
