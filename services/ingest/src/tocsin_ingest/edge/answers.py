"""What a sender is answered: a receipt for each alert, or one refusal that says what to change."""

from collections.abc import Iterable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tocsin_contracts import Alert
from tocsin_contracts.views import AlertReceipt, DeliveryReceipt, DeliveryStatus, ErrorView
from tocsin_ingest.edge.counting import REFUSALS, UNKNOWN, Reason
from tocsin_kit.errors import FullError, TransientError
from tocsin_kit.intake import Admission

UNAVAILABLE = 503
RETRY_SECONDS = 5
BAD_REQUEST = 400


class RefusedError(Exception):
    """A request that gets an answer other than 202; `retry_after` is in whole seconds."""

    def __init__(
        self, status: int, reason: Reason, error: str, hint: str, *, retry_after: int = 0
    ) -> None:
        super().__init__(error)
        self.status = status
        self.reason = reason
        self.view = ErrorView(error=error, hint=hint)
        self.retry_after = retry_after


def unavailable(reason: Reason, error: str, hint: str) -> RefusedError:
    """Return the refusal of whatever is our own trouble; every sender sends again after it."""
    return RefusedError(UNAVAILABLE, reason, error, hint, retry_after=RETRY_SECONDS)


def not_stored(error: TransientError) -> RefusedError:
    """Return the refusal of a request of which an alert was not stored."""
    hint = "send it again; none was lost"
    if isinstance(error, FullError):
        wait = int(error.retry_in)
        return RefusedError(UNAVAILABLE, Reason.STREAM_FULL, str(error), hint, retry_after=wait)
    return unavailable(Reason.NOT_STORED, "the alert could not be stored", hint)


def receipt_of(admitted: Iterable[tuple[Alert, Admission]]) -> DeliveryReceipt:
    """Return one receipt per alert; the first one's run also stands at the top."""
    receipts = tuple(_receipt(alert, one) for alert, one in admitted)
    if not receipts:
        return DeliveryReceipt(status="nothing to do")
    first = receipts[0]
    return DeliveryReceipt(
        status="accepted",
        run_id=first.run_id,
        thread_id=first.thread_id,
        poll_url=first.poll_url,
        alerts=receipts,
    )


def accepted(receipt: DeliveryReceipt) -> Response:
    """Return the answer that means: every alert of the request is stored."""
    return Response(receipt.model_dump_json(), 202, media_type="application/json")


async def refuse(request: Request, error: Exception) -> JSONResponse:
    """Answer a RefusedError, and count it."""
    if not isinstance(error, RefusedError):
        raise error
    source = getattr(request.state, "source", UNKNOWN)
    REFUSALS.labels(source, error.reason).inc()
    headers = {"Connection": "close"}  # what is left of the body is not worth reading
    if error.retry_after:
        headers["Retry-After"] = str(error.retry_after)
    return JSONResponse(error.view.model_dump(), error.status, headers=headers)


async def no_route(request: Request, error: Exception) -> JSONResponse:
    """Answer what no route takes, in the same shape."""
    if not isinstance(error, HTTPException):
        raise error
    REFUSALS.labels(UNKNOWN, Reason.NO_SUCH_PATH).inc()
    what = f"{request.method} {_public(request.url.path)}: {error.detail}"
    view = ErrorView(error=what, hint="send alerts with POST /webhook/<source>")
    return JSONResponse(view.model_dump(), error.status_code, headers=error.headers)


def _public(path: str) -> str:
    """Return a path as it may be shown: below a source it can hold the token of its sender."""
    *shown, hidden = [*path.split("/", 3), ""][:4]
    return "/".join(shown) + ("/…" if hidden else "")


def poll_url(run_id: str) -> str:
    """Return where the gateway tells of a run; nothing for what belongs to none."""
    return f"/api/v1/runs/{run_id}" if run_id else ""


def _receipt(alert: Alert, admitted: Admission) -> AlertReceipt:
    run_id = admitted.run_id or ""
    return AlertReceipt(
        fingerprint=alert.fingerprint,
        status=DeliveryStatus(admitted.outcome),
        run_id=run_id,
        thread_id=run_id,
        poll_url=poll_url(run_id),
    )
