"""Talk to the gateway and to ingest, in the words of the contracts."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import ValidationError

from tocsin_cli.errors import RefusedError, UnreachableError
from tocsin_cli.settings import Access
from tocsin_contracts import Amounts, RunState, Value
from tocsin_contracts.amending import AmendmentView, NewValue
from tocsin_contracts.views import (
    BudgetAnswerView,
    CancelView,
    DecisionView,
    DeliveryReceipt,
    ErrorView,
    RunPage,
    RunSummary,
    RunView,
)
from tocsin_kit.errors import PermanentError

_SECONDS = 10.0

V = TypeVar("V", bound=Value)


class _Client:
    """Every answer is a value of the contracts; everything else is an error that says why."""

    def __init__(self, access: Access, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._url = access.url
        self._http = httpx.AsyncClient(
            base_url=access.url,
            headers={"Authorization": f"Bearer {access.token}"},
            timeout=_SECONDS,
            transport=transport,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def _ask(self, answer: type[V], method: str, path: str, **request: Any) -> V:
        response = await self._send(method, path, **request)
        try:
            return answer.model_validate_json(response.content)
        except ValidationError as error:
            raise PermanentError(
                f"{self._url} answered something that is no {answer.__name__}: {error}"
            ) from error

    async def _send(self, method: str, path: str, **request: Any) -> httpx.Response:
        try:
            response = await self._http.request(method, path, **request)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise UnreachableError(f"{self._url!r} does not answer: {error}") from error
        if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            raise UnreachableError(f"{self._url!r} is not ready: {why(response)}")
        if response.status_code == httpx.codes.NOT_FOUND:
            raise PermanentError(why(response))
        if response.is_client_error:
            raise RefusedError(why(response))
        if not response.is_success:
            raise PermanentError(f"{self._url} failed at {method} {path}: {why(response)}")
        return response


class Gateway(_Client):
    """Reads runs and takes decisions about them."""

    async def runs(self, state: RunState | None = None, limit: int = 50) -> tuple[RunSummary, ...]:
        """Return the newest runs, of one state if given."""
        query = {"limit": str(limit)} | ({"state": state.value} if state else {})
        return (await self._ask(RunPage, "GET", "/api/v1/runs", params=query)).runs

    async def run(self, run_id: str) -> RunView:
        """Return everything that is known about a run."""
        return await self._ask(RunView, "GET", f"/api/v1/runs/{run_id}")

    async def approve(
        self, run_id: str, plan_hash: str, reason: str = "", *, break_glass: bool = False
    ) -> DecisionView:
        """Say yes to exactly one plan."""
        broken = {"break_glass": True} if break_glass else {}
        return await self._decide(run_id, "approve", plan_hash, reason, **broken)

    async def amend(
        self, run_id: str, plan_hash: str, changes: Sequence[NewValue], reason: str
    ) -> AmendmentView:
        """Ask for a plan with other values."""
        wish = {
            "plan_hash": plan_hash,
            "changes": [one.model_dump(mode="json") for one in changes],
            "reason": reason,
        }
        return await self._ask(AmendmentView, "POST", f"/api/v1/runs/{run_id}/amend", json=wish)

    async def reject(self, run_id: str, plan_hash: str, reason: str) -> DecisionView:
        """Say no to exactly one plan."""
        return await self._decide(run_id, "reject", plan_hash, reason)

    async def cancel(self, run_id: str, reason: str) -> CancelView:
        """Ask a run to stop."""
        path = f"/api/v1/runs/{run_id}/cancel"
        return await self._ask(CancelView, "POST", path, json={"reason": reason})

    async def extend(
        self, run_id: str, amounts: Amounts, reason: str, *, granted: bool
    ) -> BudgetAnswerView:
        """Answer an investigation that waits for a larger budget."""
        said = {
            "granted": granted,
            "amounts": amounts.model_dump(mode="json"),
            "reason": reason,
        }
        return await self._ask(BudgetAnswerView, "POST", f"/api/v1/runs/{run_id}/budget", json=said)

    async def _decide(
        self, run_id: str, verb: str, plan_hash: str, reason: str, **more: bool
    ) -> DecisionView:
        said = {"plan_hash": plan_hash, "reason": reason, **more}
        return await self._ask(DecisionView, "POST", f"/api/v1/runs/{run_id}/{verb}", json=said)


class Ingest(_Client):
    """Takes alerts."""

    async def alertmanager(self, payload: bytes) -> DeliveryReceipt:
        """Deliver a webhook body as Alertmanager would."""
        return await self.deliver("alertmanager", payload)

    async def deliver(self, source: str, payload: bytes) -> DeliveryReceipt:
        """Deliver a webhook body as its sender would; `source` may name an instance after a `/`."""
        return await self._ask(
            DeliveryReceipt,
            "POST",
            f"/webhook/{quote(source)}",
            content=payload,
            headers={"Content-Type": "application/json"},
        )


def why(response: httpx.Response) -> str:
    """Return what an answer says that is a no."""
    try:
        told = ErrorView.model_validate_json(response.content)
    except ValidationError:
        return f"{response.status_code} {response.reason_phrase}"
    return f"{told.error}; {told.hint}" if told.hint else told.error
