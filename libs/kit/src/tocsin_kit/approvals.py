"""Approvals: opened by action, shown by surfaces, redeemed once, bound to one plan hash.

A token is `<approval id>.<nonce>`: each surface mints its own nonce, only its digest is stored,
and redeeming it is one atomic step that also stores the event which tells of the decision.
A missing record means that nothing was approved.
"""

import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta

from redis.asyncio import Redis

from tocsin_contracts import Decision, RunId
from tocsin_contracts.views import ApprovalState, DecisionKind
from tocsin_kit import approval_record, keys
from tocsin_kit.approval_record import (
    OWNED,
    RULE,
    Approval,
    Redeemed,
    Refusal,
    approval_id,
    listed,
    redeemed,
)
from tocsin_kit.approval_told import read, stored, told
from tocsin_kit.clock import Clock, SystemClock, millis
from tocsin_kit.errors import TransientError
from tocsin_kit.outbox import Outbox
from tocsin_kit.quorum import ONE, Quorum
from tocsin_kit.store import Script, text_fields, translated

__all__ = ["Approval", "Redeemed", "Refusal", "approval_id", "read"]

KEPT = timedelta(days=90)
PROPOSER = "tocsin"
LEAST_REASON = 10
"""Characters of the reason to break the glass."""

OWNER = "approvals"
"""The outbox that every redeemer shares, so that any of them heals a crash of another."""


class Approvals:
    """The approval records. Raises TransientError when the store does not answer."""

    def __init__(self, client: Redis, outbox: Outbox, clock: Clock | None = None) -> None:
        self._client = client
        self._outbox = outbox
        self._clock = clock or SystemClock()
        self._open = Script(client, "approval_open")
        self._redeem = Script(client, "approval_redeem")
        self._close = Script(client, "approval_close")
        self._widen = Script(client, "approval_widen")

    async def open(
        self,
        run_id: RunId,
        plan_hash: str,
        approvers: Iterable[str],
        expires_at: datetime,
        quorum: Quorum = ONE,
        *,
        askers: Iterable[str] = (),
        owned: Mapping[str, Iterable[str]] | None = None,
        breakers: Iterable[str] = (),
    ) -> Approval:
        """Open the approval of a plan, or return it as it stands if it was opened before.

        Of each path in `owned` one of the people has to say yes; `breakers` may alone.
        """
        key = keys.approval(run_id, plan_hash)
        fields = {
            "state": ApprovalState.PENDING.value,
            "plan_hash": plan_hash,
            "issued": str(millis(self._clock.now())),
            "expires": str(millis(expires_at)),
            "proposer": PROPOSER,
            "approvers": listed(tuple(approvers)),
            "askers": listed(tuple(askers)),
            "breakers": listed(tuple(breakers)),
            **{f"{OWNED}{path}": listed(tuple(who)) for path, who in (owned or {}).items()},
            **approval_record.written(quorum),
        }
        kept = int(KEPT.total_seconds() * 1000)
        await self._open([key], [kept, *(part for pair in fields.items() for part in pair)])
        found = await self.get(run_id, plan_hash)
        if found is None:
            raise RuntimeError(f"approval {key!r} vanished while it was opened")
        return found

    async def get(self, run_id: RunId, plan_hash: str) -> Approval | None:
        """Return the approval of a plan, or None: nothing was ever approved."""
        key = keys.approval(run_id, plan_hash)
        async with translated(f"read approval {key!r}"):
            record = text_fields(await self._client.hgetall(key))
        return approval_record.parsed(run_id, record)

    async def mint(self, run_id: RunId, plan_hash: str, surface: str) -> str:
        """Return a new single-use nonce for a surface; an older one of that surface is void."""
        nonce = secrets.token_urlsafe(32)
        key = keys.approval(run_id, plan_hash)
        async with translated(f"mint a nonce for {key!r}"):
            if await self._client.exists(key):
                await self._client.hset(key, f"nonce:{surface}", approval_record.digest(nonce))
        return nonce

    async def redeem(
        self,
        *,
        run_id: RunId,
        plan_hash: str,
        surface: str,
        nonce: str,
        answer: DecisionKind,
        by: str,
        reason: str,
        break_glass: bool = False,
    ) -> Redeemed:
        """Take a decision exactly once, and publish the event that tells of it.

        A yes of one person where more have to say it is an event too, and leaves it pending. Who
        breaks the glass needs no other, and has to say why. The outbox heals a crash in between.
        """
        if break_glass and len(reason.strip()) < LEAST_REASON:
            return Redeemed(Refusal.NO_REASON, None)
        key, now = keys.approval(run_id, plan_hash), self._clock.now()
        decision = Decision(
            approval_id=approval_id(run_id, plan_hash),
            plan_hash=plan_hash,
            by=by,
            surface=surface.partition(":")[0],
            decided_at=now,
            reason=reason,
            break_glass=break_glass,
        )
        whole, partial = told(run_id, answer, decision)
        shown = [surface, approval_record.digest(nonce), plan_hash, answer, by, reason]
        said: list[str | int] = [millis(now), decision.model_dump_json()]
        events = [part for one in (whole, partial) for part in (one.topic, one.model_dump_json())]
        ticket = await self._outbox.announce(key)
        arguments = [*shown, *said, *events, int(break_glass)]
        taken = redeemed(*await self._redeem([key, keys.run(run_id)], arguments))
        if taken.refusal is None:
            with suppress(TransientError):  # the decision stands; the outbox tells of it later
                await self._outbox.send(stored(key, taken, whole, partial, ticket))
        return taken

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
        """Take the decision of a person whom the surface has just authenticated.

        Each request mints a nonce of its own, so that of many clicks one decides and the others
        hear who did.
        """
        request = f"{surface}:{secrets.token_hex(4)}"
        nonce = await self.mint(run_id, plan_hash, request)
        taken = await self.redeem(
            run_id=run_id,
            plan_hash=plan_hash,
            surface=request,
            nonce=nonce,
            answer=answer,
            by=by,
            reason=reason,
            break_glass=break_glass,
        )
        if taken.refusal:
            await self.void(run_id, plan_hash, request)
        return taken

    async def decide_by_rule(self, run_id: RunId, plan_hash: str, rule: str) -> Redeemed:
        """Approve by a rule of the operator's, which the record and the decision then name.

        Refused where more than one person has to say yes, or anybody has decided.
        """
        key, by = keys.approval(run_id, plan_hash), f"{RULE}:{rule}"
        async with translated(f"name the rule of {key!r}"):
            if await self._client.exists(key):
                await self._client.hset(key, "rule", by)
        return await self.decide(
            run_id=run_id,
            plan_hash=plan_hash,
            surface=RULE,
            answer=DecisionKind.GRANTED,
            by=by,
            reason=f"the rule {rule} of gitops.yaml",
        )

    async def void(self, run_id: RunId, plan_hash: str, surface: str) -> None:
        """Take the nonce of a surface back: whatever shows it decides nothing any more."""
        async with translated("void a nonce"):
            await self._client.hdel(keys.approval(run_id, plan_hash), f"nonce:{surface}")

    async def expire(self, run_id: RunId, plan_hash: str) -> ApprovalState | None:
        """Close a pending approval whose time is over; returns how it stands now."""
        return await self._end(run_id, plan_hash, ApprovalState.EXPIRED, "due")

    async def withdraw(self, run_id: RunId, plan_hash: str) -> ApprovalState | None:
        """Close a pending approval at once; returns how it stands now."""
        return await self._end(run_id, plan_hash, ApprovalState.WITHDRAWN, "now")

    async def widen(
        self, run_id: RunId, plan_hash: str, who: Iterable[str]
    ) -> ApprovalState | None:
        """Let more people decide a pending approval; returns how it stands now."""
        found = await self._widen([keys.approval(run_id, plan_hash)], list(who))
        return ApprovalState(found) if found else None

    async def _end(
        self, run_id: RunId, plan_hash: str, state: ApprovalState, when: str
    ) -> ApprovalState | None:
        key = keys.approval(run_id, plan_hash)
        found = await self._close([key], [state, millis(self._clock.now()), when])
        return ApprovalState(found) if found else None
