"""What the buttons about a run do; every one goes the way that the same request of the API goes."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from tocsin_contracts.operations import EscalateView, RerunView
from tocsin_contracts.outcomes import OutcomesView, Rateable, RatingsView, RatingView
from tocsin_contracts.roles import Role
from tocsin_contracts.views import DecisionKind
from tocsin_gateway.amendments import Amendments
from tocsin_gateway.api import Api
from tocsin_gateway.console import amending, forms
from tocsin_gateway.console.door import Behind, Door
from tocsin_gateway.console.sessions import Session
from tocsin_gateway.outcomes.routes import RatingWish
from tocsin_gateway.ports import Verdict
from tocsin_gateway.refusals import RefusedError

Act = Callable[[str, dict[str, str], str], Awaitable[str]]
"""Does something about a run with the fields of a form, for somebody; returns where to go then."""

Shown = Callable[..., Awaitable[Response]]


class Operations(Protocol):
    """Begins runs anew, and takes them over."""

    async def rerun(self, run_id: str, reason: str, by: str) -> RerunView:
        """Have the alerts of a run that has ended looked at again by a new one."""

    async def escalate(self, run_id: str, reason: str, by: str) -> EscalateView:
        """End a run that nobody has decided about yet."""


class Outcomes(Protocol):
    """What became of runs, and what people say of them."""

    async def view(self, days: int) -> OutcomesView:
        """Return what became of the runs that began within so many days."""

    async def ratings(self, run_id: str) -> RatingsView:
        """Return what people say of a run."""

    async def rate(self, run_id: str, wish: RatingWish, by: str, surface: str) -> RatingView:
        """Take what somebody says; RefusedError where there is nothing to rate."""


class Acting:
    """Does what a form of the console asks for, and shows the run again where it was refused."""

    def __init__(
        self,
        api: Api,
        amendments: Amendments,
        operations: Operations,
        outcomes: Outcomes,
        shown: Shown,
    ) -> None:
        self._api = api
        self._amendments = amendments
        self._operations = operations
        self._outcomes = outcomes
        self._shown = shown

    def routes(self, door: Door) -> list[Behind]:
        """Return its addresses."""
        acts = (
            ("approve", self._approve, Role.APPROVER),
            ("break-glass", self._break_glass, Role.APPROVER),
            ("amend", self._amend, Role.APPROVER),
            ("reject", self._reject, Role.APPROVER),
            ("cancel", self._cancel, Role.OPERATOR),
            ("rerun", self._rerun, Role.OPERATOR),
            ("escalate", self._escalate, Role.OPERATOR),
            ("rate", self._rate, Role.OPERATOR),
        )
        return [
            door.behind(
                f"/runs/{{run_id}}/{name}", self._answering(act, _PROMISES.get(name)), role, "POST"
            )
            for name, act, role in acts
        ]

    def _answering(
        self, act: Act, promise: str | None
    ) -> Callable[[Request, Session], Awaitable[Response]]:
        async def answer(request: Request, session: Session) -> Response:
            fields = await forms.read(request)
            forms.check(fields, session.csrf)
            try:
                run_id = await act(str(request.path_params["run_id"]), fields, session.who)
            except RefusedError as error:
                said = f"{error.view.error}; {error.view.hint}"
                return await self._shown(request, session, error.status, refused=said)
            if promise:
                return await self._shown(request, session, 202, done=promise)
            return RedirectResponse(f"/runs/{run_id}", 303)

        return answer

    async def _approve(self, run_id: str, fields: dict[str, str], by: str) -> str:
        """Say yes to exactly the plan that was on the page."""
        verdict = Verdict(plan_hash=forms.plan_hash(fields), reason=forms.reason(fields))
        await self._api.decide(run_id, DecisionKind.GRANTED, verdict, by, surface="console")
        return run_id

    async def _break_glass(self, run_id: str, fields: dict[str, str], by: str) -> str:
        """Say yes alone, past the rules of who has to; it is told to everybody."""
        plan_hash, reason = forms.plan_hash(fields), forms.reason(fields)
        verdict = Verdict(plan_hash=plan_hash, reason=reason, break_glass=True)
        await self._api.decide(run_id, DecisionKind.GRANTED, verdict, by, surface="console")
        return run_id

    async def _amend(self, run_id: str, fields: dict[str, str], by: str) -> str:
        """Ask for the plan that was on the page with other values."""
        wish = amending.wish(await self._amendments.asked(run_id), fields)
        await self._amendments.ask(run_id, wish, by, surface="console")
        return run_id

    async def _reject(self, run_id: str, fields: dict[str, str], by: str) -> str:
        """Say no to exactly the plan that was on the page, and why."""
        reason = forms.reason(fields, needed=True)
        verdict = Verdict(plan_hash=forms.plan_hash(fields), reason=reason)
        await self._api.decide(run_id, DecisionKind.DENIED, verdict, by, surface="console")
        return run_id

    async def _cancel(self, run_id: str, fields: dict[str, str], by: str) -> str:
        await self._api.cancel(run_id, forms.reason(fields), by)
        return run_id

    async def _rerun(self, run_id: str, fields: dict[str, str], by: str) -> str:
        """Begin anew, and show the new run."""
        return (await self._operations.rerun(run_id, forms.reason(fields), by)).run_id

    async def _escalate(self, run_id: str, fields: dict[str, str], by: str) -> str:
        await self._operations.escalate(run_id, forms.reason(fields), by)
        return run_id

    async def _rate(self, run_id: str, fields: dict[str, str], by: str) -> str:
        """Say whether a hypothesis or a fix was useful."""
        try:
            wish = RatingWish(
                about=Rateable(fields.get("about", "")),
                useful=_USEFUL[fields.get("useful", "")],
                text=forms.reason(fields),
            )
        except (ValueError, KeyError):
            hint = "choose useful or wrong"
            raise RefusedError(422, "the form says nothing that could be rated", hint) from None
        await self._outcomes.rate(run_id, wish, by, "console")
        return run_id


_PROMISES = {
    "amend": "You asked for another value. A new plan, or why there is none, comes in seconds."
}
"""Of what is not in the record yet when the page is shown again."""

_USEFUL = {"yes": True, "no": False}
