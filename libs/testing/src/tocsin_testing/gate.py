"""What stands around the gate in memory: approvals that can be opened and closed, and timers."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from tocsin_contracts import Alert, Decision, RunId
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_kit.approval_record import RULE
from tocsin_kit.approvals import LEAST_REASON, Approval, Redeemed, Refusal, approval_id
from tocsin_kit.clock import Clock
from tocsin_kit.quorum import LOGIN, Quorum
from tocsin_kit.timers import Timer
from tocsin_testing.fakes import Outage


class FakeApprovals(Outage):
    """Approval records in memory, which refuse for the reasons that the real ones have."""

    def __init__(self, clock: Clock, *approvals: Approval) -> None:
        self._clock = clock
        self.approvals = {(one.run_id, one.plan_hash): one for one in approvals}

    async def get(self, run_id: RunId, plan_hash: str) -> Approval | None:
        """Return the approval of a plan, or None."""
        self._answer()
        return self.approvals.get((run_id, plan_hash))

    async def decide(
        self,
        *,
        run_id: RunId,
        plan_hash: str,
        surface: str,
        answer: DecisionKind,
        by: str,
        reason: str,
        break_glass: bool = False,
    ) -> Redeemed:
        """Take the decision, unless it may not be taken."""
        approval = await self.get(run_id, plan_hash)
        if approval is None:
            return Redeemed(Refusal.UNKNOWN, None)
        decision = Decision(
            approval_id=approval.id,
            plan_hash=plan_hash,
            by=by,
            surface=surface,
            decided_at=self._clock.now(),
            reason=reason,
            break_glass=break_glass,
        )
        if break_glass and len(reason.strip()) < LEAST_REASON:
            return Redeemed(Refusal.NO_REASON, None)
        taken, after = _decided(approval, answer, decision)
        self.approvals[run_id, plan_hash] = after
        return taken


class FakeGate(FakeApprovals):
    """Approval records as action sees them: it opens and closes what people decide."""

    async def open(
        self,
        run_id: RunId,
        plan_hash: str,
        approvers: Iterable[str],
        expires_at: datetime,
        quorum: Quorum,
        *,
        askers: Iterable[str] = (),
        owned: Mapping[str, Iterable[str]] | None = None,
        breakers: Iterable[str] = (),
    ) -> Approval:
        """Open the approval of a plan, or return it as it stands."""
        self._answer()
        made = Approval(
            id=approval_id(run_id, plan_hash),
            run_id=run_id,
            plan_hash=plan_hash,
            state=ApprovalState.PENDING,
            expires_at=expires_at,
            approvers=tuple(approvers),
            quorum=quorum,
            askers=tuple(askers),
            owned={path: tuple(who) for path, who in (owned or {}).items()},
            breakers=tuple(breakers),
        )
        return self.approvals.setdefault((run_id, plan_hash), made)

    async def decide_by_rule(self, run_id: RunId, plan_hash: str, rule: str) -> Redeemed:
        """Approve by a rule of the operator's, where one yes is enough."""
        found, by = await self.get(run_id, plan_hash), f"{RULE}:{rule}"
        if found and found.quorum.people == 1 and not found.owned:
            named = replace(found, approvers=(*found.approvers, by))
            self.approvals[run_id, plan_hash] = named
        return await self.decide(
            run_id=run_id,
            plan_hash=plan_hash,
            surface=RULE,
            answer=DecisionKind.GRANTED,
            by=by,
            reason=f"the rule {rule} of gitops.yaml",
        )

    async def expire(self, run_id: RunId, plan_hash: str) -> ApprovalState | None:
        """Close a pending approval whose time is over."""
        found = await self.get(run_id, plan_hash)
        if found and found.expires_at > self._clock.now():
            return found.state
        return await self._end(run_id, plan_hash, ApprovalState.EXPIRED)

    async def widen(
        self, run_id: RunId, plan_hash: str, who: Iterable[str]
    ) -> ApprovalState | None:
        """Let more people decide a pending approval."""
        found = await self.get(run_id, plan_hash)
        if found is None or found.state is not ApprovalState.PENDING:
            return found.state if found else None
        more = tuple(one for one in who if one not in found.approvers)
        self.approvals[run_id, plan_hash] = replace(found, approvers=(*found.approvers, *more))
        return found.state

    async def withdraw(self, run_id: RunId, plan_hash: str) -> ApprovalState | None:
        """Close a pending approval at once."""
        return await self._end(run_id, plan_hash, ApprovalState.WITHDRAWN)

    async def _end(
        self, run_id: RunId, plan_hash: str, state: ApprovalState
    ) -> ApprovalState | None:
        found = await self.get(run_id, plan_hash)
        if found is None or found.state is not ApprovalState.PENDING:
            return found.state if found else None
        self.approvals[run_id, plan_hash] = replace(found, state=state)
        return state


class FakeFreezes:
    """Change freezes: the one that a test says holds, or None where nobody answers."""

    holds: str | None = ""

    async def now(self, alert: Alert) -> str | None:
        """Return it, whatever the alert."""
        del alert
        return self.holds


class FakeTimers(Outage):
    """Timers that were set; none of them ever rings by itself."""

    def __init__(self) -> None:
        self.set: list[Timer] = []

    async def set_timer(self, timer: Timer) -> None:
        """Keep the timer, unless one of its id is known."""
        self._answer()
        if timer.id not in {known.id for known in self.set}:
            self.set.append(timer)


def _decided(
    approval: Approval, answer: DecisionKind, decision: Decision
) -> tuple[Redeemed, Approval]:
    """Return what is answered to a decision, and the approval after it."""
    needed, by, at = approval.quorum, decision.by, decision.decided_at
    yes, said, breaks = answer is DecisionKind.GRANTED, _agreed(approval), decision.break_glass
    given = len(said | {by}) if yes else len(said)
    lacking = yes and not breaks and _is_lacking(approval, said | {by})
    people = max(needed.people, given + 1) if lacking else needed.people
    few = given < people and decision.surface not in needed.alone
    partial = lacking or (yes and few and not breaks)
    refusal = _refusal(approval, decision)
    if refusal is None and breaks and not yes:
        refusal = Refusal.NOT_GLASS
    if not refusal and yes and not breaks and not needed.takes(decision.surface):
        refusal = Refusal.WRONG_SURFACE
    elif not refusal and partial and by in said:
        refusal = Refusal.SAID_ALREADY
    if refusal:
        known = approval.state, approval.decided_by, approval.decided_at
        shown = people if refusal is Refusal.SAID_ALREADY else needed.people
        return Redeemed(refusal, *known, len(said), shown), approval
    state = ApprovalState.PENDING if partial else ApprovalState(answer)
    others = tuple(one for one in approval.decisions if one.by != by)
    after = replace(approval, state=state, decisions=(*others, decision))
    if not partial:
        after = replace(after, decided_by=by, decided_at=at, reason=decision.reason)
    return Redeemed(None, state, by, at, given, people), after


def _is_lacking(approval: Approval, said: set[str]) -> bool:
    return said <= set(approval.askers) or bool(approval.unowned(said))


def _agreed(approval: Approval) -> set[str]:
    refused = {approval.decided_by} if approval.state is ApprovalState.DENIED else set()
    return {one.by for one in approval.decisions} - refused


def _refusal(approval: Approval, decision: Decision) -> Refusal | None:
    if approval.state is not ApprovalState.PENDING:
        return Refusal.ALREADY
    if approval.expires_at <= decision.decided_at:
        return Refusal.EXPIRED
    if decision.break_glass:
        login = decision.surface in LOGIN
        return None if login and decision.by in approval.breakers else Refusal.NOT_GLASS
    return None if decision.by in approval.approvers else Refusal.NOT_ALLOWED
