"""Every answer that is a no, with its reason and what to do."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.websockets import WebSocket

from tocsin_contracts.roles import Role
from tocsin_contracts.views import ApprovalState, ErrorView
from tocsin_kit.approvals import LEAST_REASON, Approval, Redeemed, Refusal
from tocsin_kit.errors import TransientError

ROUTES = "/openapi.json describes every request"

_LEAST = f"{LEAST_REASON} characters or more"
REFUSALS: Mapping[Refusal, tuple[int, str, str]] = {
    Refusal.UNKNOWN: (409, "no approval was asked for this plan", "look at the run again"),
    Refusal.BAD_TOKEN: (403, "another decision is being taken", "look at the run again"),
    Refusal.PLAN_CHANGED: (403, "this is not the plan that waits", "look at the new plan"),
    Refusal.EXPIRED: (410, "the approval has expired", "a new alert opens a new run"),
    Refusal.NOT_ALLOWED: (403, "you may not decide this", "ask one of: {approvers}"),
    Refusal.SELF_APPROVAL: (403, "who proposes a change may not approve it", "ask somebody else"),
    Refusal.WRONG_SURFACE: (403, "a yes to this does not count from here", "it needs {needs}"),
    Refusal.SAID_ALREADY: (409, "you have said yes already", "ask one of: {approvers}"),
    Refusal.NOT_GLASS: (403, "you may not break the glass here", "ask one of: {approvers}"),
    Refusal.NO_REASON: (422, "to break the glass takes a reason", f"say why in {_LEAST}"),
    Refusal.NOT_WAITING: (409, "the run no longer waits for a decision", "look at the run again"),
}


class RefusedError(Exception):
    """A request that gets an answer other than 200."""

    def __init__(self, status: int, error: str, hint: str, retry_after: int = 0) -> None:
        super().__init__(error)
        self.status = status
        self.headers = {"Retry-After": str(retry_after)} if retry_after else {}
        self.view = ErrorView(error=error, hint=hint)


def already(taken: Redeemed, state: ApprovalState) -> RefusedError:
    """Say who decided and when, or why nobody can any more."""
    if state is ApprovalState.EXPIRED:
        return refused(Refusal.EXPIRED)
    if state is ApprovalState.WITHDRAWN:
        return refused(Refusal.NOT_WAITING)
    when = taken.decided_at.isoformat() if taken.decided_at else "an unknown time"
    return RefusedError(
        409, f"already {state.value} by {taken.decided_by} at {when}", "the first decision stands"
    )


def who_can(refusal: Refusal, approval: Approval) -> tuple[str, ...]:
    """Return the people who could do what was refused."""
    if refusal is Refusal.NOT_GLASS:
        return approval.breakers
    return approval.undecided if refusal is Refusal.SAID_ALREADY else approval.approvers


def refused(refusal: Refusal, approvers: str = "", needs: str = "") -> RefusedError:
    """Return the answer to a refused decision, which may name who could take it."""
    status, error, hint = REFUSALS[refusal]
    return RefusedError(
        status, error, hint.format(approvers=approvers or "nobody yet", needs=needs)
    )


def unknown_run(run_id: str) -> RefusedError:
    """Return the answer to a run id that the store does not know."""
    return RefusedError(404, f"no run {run_id!r}", "`tocsin run list` shows the newest runs")


def unknown_token() -> RefusedError:
    """Return the answer to a stranger."""
    return RefusedError(401, "unknown token", "send `Authorization: Bearer <your token>`")


def two_people(one: str, other: str) -> RefusedError:
    """Return the answer to a request that names two people at once."""
    return RefusedError(
        401, f"the token is that of {one!r}, and the proxy names {other!r}", "send only one of both"
    )


def foreign() -> RefusedError:
    """Return the answer to a browser that a page of somebody else sent."""
    return RefusedError(
        403, "another site made your browser ask this", "open the console and do it there"
    )


def not_ours() -> RefusedError:
    """Return the answer to who wants to leave, but was signed in by the proxy."""
    return RefusedError(409, "the proxy in front of Tocsin signed you in", "sign out there")


def needs_role(role: Role, has: Role, able: Sequence[str]) -> RefusedError:
    """Return the answer to somebody whose role is not enough."""
    return RefusedError(
        403,
        f"this needs the role {role.value}; yours is {has.value}",
        f"ask one of: {', '.join(able) or 'nobody has it yet'}",
    )


def too_big(limit: int) -> RefusedError:
    """Return the answer to a body that no request of ours needs."""
    return RefusedError(413, f"the body is over {limit} bytes", "a decision needs far less")


async def _answer(connection: Request | WebSocket, error: Exception) -> JSONResponse:
    del connection
    if not isinstance(error, RefusedError):
        raise error
    return JSONResponse(error.view.model_dump(), error.status, headers=error.headers)


async def _no_route(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    view = ErrorView(error=f"{request.method} {request.url.path}: {error.detail}", hint=ROUTES)
    return JSONResponse(view.model_dump(), error.status_code, headers=error.headers)


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    del request
    if not isinstance(error, RequestValidationError):
        raise error
    faults = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    view = ErrorView(error=faults, hint=ROUTES)
    return JSONResponse(view.model_dump(), 422)


async def _unavailable(request: Request, error: Exception) -> JSONResponse:
    del request
    view = ErrorView(error=str(error), hint="nothing was decided; try again in a few seconds")
    return JSONResponse(view.model_dump(), 503, headers={"Retry-After": "5"})


ANSWERS: Mapping[type[Exception], Callable[..., Awaitable[JSONResponse]]] = {
    RefusedError: _answer,
    HTTPException: _no_route,
    RequestValidationError: _malformed,
    TransientError: _unavailable,
}
"""How each error is answered that a request can end with."""
