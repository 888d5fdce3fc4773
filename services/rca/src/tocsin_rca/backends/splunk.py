"""Splunk: what programs wrote, found by search terms; no command of its language is ever run."""

from collections.abc import Sequence
from typing import Annotated, Literal
from urllib.parse import urlencode

from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter, ValidationError

from tocsin_agents.tools.signatures import Function
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Minutes, Until, window
from tocsin_rca.backends.client import Client, Params
from tocsin_rca.backends.log_lines import MOST_READ, LogLine, Logs, Shapes, logs
from tocsin_rca.backends.options import BackendOptions

_TIME: TypeAdapter[AwareDatetime] = TypeAdapter(AwareDatetime)

Terms = Annotated[
    str,
    Field(
        min_length=1,
        max_length=1000,
        pattern=r"^[^|\[\]`]*$",
        description='What is searched for, such as kube_namespace=shop "refused"; terms only, '
        "without | and commands.",
    ),
]


class SplunkOptions(BackendOptions):
    """The management port of a Splunk; the role of its token bounds what may be searched."""

    type: Literal["splunk"]
    index: str = Field(
        default="*",
        pattern=r"^[a-z0-9_*-]{1,100}$",
        description="The index that is searched, with * for any letters.",
    )

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        return (SplunkTools(client, self).logs,)


class _Result(BaseModel):
    at: str = Field(alias="_time")
    raw: str = Field(default="", alias="_raw")
    host: str = ""
    source: str = ""


class _Results(BaseModel):
    results: list[_Result]


class SplunkTools:
    """One method a tool."""

    def __init__(self, client: Client, options: SplunkOptions) -> None:
        self._client = client
        self._options = options

    async def logs(
        self, terms: Terms, until: Until = None, minutes: Minutes = 30, shapes: Shapes = 20
    ) -> Logs:
        """Show what was written in a time; lines that differ only in numbers are counted as one."""
        start, end = window(until, minutes, self._client.clock.now())
        search = f"search index={self._options.index} ({terms})"
        form: Params = {
            "search": search,
            "earliest_time": f"{start.timestamp():.3f}",
            "latest_time": f"{end.timestamp():.3f}",
            "exec_mode": "oneshot",
            "output_mode": "json",
            "count": MOST_READ,
            "max_time": max(1, int(self._options.seconds)),
        }
        found = (await self._client.submit(_Results, "/services/search/jobs", form)).results
        link = ""
        if self._options.page_url:
            shown = {"q": search, "earliest": form["earliest_time"], "latest": form["latest_time"]}
            link = f"{self._options.page}/app/search/search?{urlencode(shown)}"
        return logs([_line(one) for one in found], shapes, link=link)


def _line(result: _Result) -> LogLine:
    try:
        at = _TIME.validate_python(result.at)
    except ValidationError:
        raise PermanentError(f"Splunk answers a time that is none: {line(result.at)!r}") from None
    return LogLine(at, result.raw, result.host or result.source)
