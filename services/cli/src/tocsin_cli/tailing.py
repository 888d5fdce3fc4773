"""Facts as the gateway tells them: each once and in order, whatever becomes of the connection."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import httpx
from pydantic import ValidationError

from tocsin_cli.client import Gateway, why
from tocsin_cli.errors import RefusedError, UnreachableError
from tocsin_contracts import Severity
from tocsin_contracts.feed import FactView
from tocsin_kit.errors import PermanentError

EVENTS = "/api/v1/events"
SILENCE_SECONDS = 45.0
"""Of a stream that beats more often than that."""

RETRIES = 30
RETRY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which facts are wanted; nothing chosen is all. They come after the number `since`."""

    run: str = ""
    topics: Sequence[str] = ()
    severities: Sequence[Severity] = ()
    since: int | None = None

    @property
    def query(self) -> Mapping[str, str | Sequence[str]]:
        """How the gateway is asked for them."""
        severities = [severity.value for severity in self.severities]
        return {"run": self.run, "topic": self.topics, "severity": severities}


class Tail(Gateway):
    """Follows the feed of facts; `reached` is the number up to which everything was told."""

    reached: int | None = None

    async def facts(
        self, wanted: Wanted, *, retry_seconds: float = RETRY_SECONDS
    ) -> AsyncGenerator[FactView, None]:
        """Yield facts for ever. UnreachableError if nobody answers at first, or for too long."""
        self.reached, failures, answered = wanted.since, 0, False
        while True:
            try:
                async with aclosing(self._once(wanted)) as found:
                    async for fact in found:
                        answered, failures = True, 0
                        if fact:
                            yield fact
            except UnreachableError:
                failures += 1
                if not answered or failures > RETRIES:
                    raise
            await asyncio.sleep(retry_seconds)

    async def _once(self, wanted: Wanted) -> AsyncGenerator[FactView | None, None]:
        """Yield what one connection gives: a fact, or None for a sign of life."""
        timeout = httpx.Timeout(10, read=SILENCE_SECONDS)
        headers = {} if self.reached is None else {"Last-Event-ID": str(self.reached)}
        query = httpx.QueryParams(wanted.query)
        try:
            async with self._http.stream(
                "GET", EVENTS, params=query, headers=headers, timeout=timeout
            ) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise _refusal(answer)
                async for line in answer.aiter_lines():
                    name, _, value = line.partition(": ")
                    if name == "id" and value.isdigit():
                        self.reached = int(value)
                        yield None
                    elif name == "data":
                        yield _fact(value)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise UnreachableError(f"{self._url!r} does not answer: {error}") from error


def _fact(data: str) -> FactView:
    try:
        return FactView.model_validate_json(data)
    except ValidationError as error:
        raise PermanentError(f"the gateway told something that is no fact: {error}") from error


def _refusal(answer: httpx.Response) -> RefusedError | UnreachableError:
    if answer.is_server_error or answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
        return UnreachableError(f"the gateway is not ready: {why(answer)}")
    return RefusedError(why(answer))
