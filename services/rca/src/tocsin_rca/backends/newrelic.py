"""New Relic: what a query in NRQL, which can only read, answers."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from tocsin_agents.tools.signatures import Function
from tocsin_kit.errors import PermanentError
from tocsin_kit.secret_refs import SecretRef
from tocsin_kit.untrusted import line
from tocsin_rca.backends.answers import Limit, Told, counted
from tocsin_rca.backends.client import Client
from tocsin_rca.backends.options import BackendOptions, Read

_LONGEST = 300
_MOST_COLUMNS = 30
_QUESTION = (
    "query($account: Int!, $nrql: Nrql!, $seconds: Seconds!) {actor {account(id: $account) "
    "{nrql(query: $nrql, timeout: $seconds) {results}}}}"
)

Nrql = Annotated[
    str,
    Field(
        min_length=6,
        max_length=2000,
        description="The query, with its time in it, such as SELECT count(*) FROM TransactionError "
        "FACET error.class SINCE 1 hour ago.",
    ),
]


class NewRelicOptions(BackendOptions):
    """A New Relic account; `token` is a user key. In Europe `url` is https://api.eu.newrelic.com."""

    usual_url = "https://api.newrelic.com"

    type: Literal["newrelic"]
    token: SecretRef = Field(description="Where the user key is kept.")
    account: int = Field(ge=1, description="The number of the account.")

    @property
    def page(self) -> str:
        """Where people open it."""
        usual = self.base.replace("://api.", "://one.")
        return (self.page_url or usual).rstrip("/")

    def credentials(self, read: Read) -> Mapping[str, str]:
        """Return the key."""
        return {"API-Key": read(self.token)}

    def tools(self, client: Client) -> Sequence[Function]:
        """Return its questions."""
        return (NewRelicTools(client, self).query,)


class _Nrql(BaseModel):
    results: list[dict[str, Any]]


class _Account(BaseModel):
    nrql: _Nrql | None


class _Actor(BaseModel):
    account: _Account | None


class _Data(BaseModel):
    actor: _Actor | None


class _Error(BaseModel):
    message: str


class _Answer(BaseModel):
    data: _Data | None
    errors: list[_Error] = []


class Rows(Told):
    """What a query gave, as its columns are called."""

    rows: tuple[dict[str, Any], ...] = ()


class NewRelicTools:
    """One method a tool."""

    def __init__(self, client: Client, options: NewRelicOptions) -> None:
        self._client = client
        self._options = options

    async def query(self, nrql: Nrql, limit: Limit = 20) -> Rows:
        """Ask a query in NRQL: errors, transactions, logs, metrics, whatever was sent there."""
        asked = {
            "account": self._options.account,
            "nrql": nrql,
            "seconds": max(1, int(self._options.seconds) - 1),
        }
        body = {"query": _QUESTION, "variables": asked}
        answer = await self._client.search(_Answer, "/graphql", body)
        if answer.errors:
            why = line(answer.errors[0].message, _LONGEST)
            raise PermanentError(f"{self._client.name}: it refuses the query: {why}")
        found = _rows(answer)
        return Rows(
            said=f"{counted(len(found), 'row')}.",
            link=f"{self._options.page}/",
            left_out=max(0, len(found) - limit) or None,
            rows=tuple(_row(one) for one in found[:limit]),
        )


def _rows(answer: _Answer) -> list[dict[str, Any]]:
    actor = answer.data.actor if answer.data else None
    nrql = actor.account.nrql if actor and actor.account else None
    return nrql.results if nrql else []


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row whose texts are short, and whose numbers stay numbers."""
    return {line(name): _cell(value) for name, value in list(row.items())[:_MOST_COLUMNS]}


def _cell(value: Any) -> Any:
    """Return a value that JSON has: NaN and infinity, which it has not, are nothing."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float):
        return value
    return line(value if isinstance(value, str) else str(value), _LONGEST)
