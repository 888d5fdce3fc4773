"""What is known about an approval, and what becomes of an attempt to decide it."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from tocsin_contracts import Decision, RunId
from tocsin_contracts.views import ApprovalState
from tocsin_kit.clock import from_millis
from tocsin_kit.quorum import ONE, Quorum

YES, NO = "yes:", "no:"
"""Before the name of who said it: the fields of a record that hold what was said."""

OWNED = "owned:"
"""Before a path: the fields that hold the owners of it whose yes is needed."""

RULE = "rule"
"""The surface of decisions that rules take; no person decides by it."""


class Refusal(StrEnum):
    """Why a decision was not taken."""

    UNKNOWN = "unknown"
    BAD_TOKEN = "bad_token"  # noqa: S105 - a verdict, not a password
    ALREADY = "already"
    PLAN_CHANGED = "plan_changed"
    EXPIRED = "expired"
    NOT_ALLOWED = "not_allowed"
    SELF_APPROVAL = "self_approval"
    NOT_WAITING = "not_waiting"
    WRONG_SURFACE = "wrong_surface"
    SAID_ALREADY = "said_already"
    NOT_GLASS = "not_glass"
    NO_REASON = "no_reason"


@dataclass(frozen=True, slots=True)
class Approval:
    """One approval as it stands; `decisions` holds what was said so far, the oldest first.

    `askers` asked for the change: they are never the only ones who say yes to it. Of each path in
    `owned` one of the owners has to. `breakers` may say yes alone, past all of that.
    """

    id: str
    run_id: RunId
    plan_hash: str
    state: ApprovalState
    expires_at: datetime
    approvers: tuple[str, ...]
    decided_by: str = ""
    decided_at: datetime | None = None
    reason: str = ""
    quorum: Quorum = ONE
    decisions: tuple[Decision, ...] = ()
    askers: tuple[str, ...] = ()
    owned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    breakers: tuple[str, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether somebody has said yes and more people have to."""
        return self.state is ApprovalState.PENDING and bool(self.decisions)

    @property
    def required(self) -> int:
        """How many people have to say yes, as it stands."""
        said = {one.by for one in self.decisions}
        lacking = said <= set(self.askers) or self.unowned(said)
        return max(self.quorum.people, len(said) + 1) if said and lacking else self.quorum.people

    @property
    def needs(self) -> str:
        """Who has to say yes, in words."""
        asked = f", not only {', '.join(self.askers)}, who asked for it" if self.askers else ""
        return f"{self.quorum}{asked}{''.join(self._owners())}"

    def unowned(self, said: Iterable[str]) -> tuple[str, ...]:
        """Return the paths of which none of these people is an owner whose yes is needed."""
        heard = set(said)
        return tuple(path for path, owners in self.owned.items() if heard.isdisjoint(owners))

    def _owners(self) -> Iterator[str]:
        for owners in dict.fromkeys(self.owned.values()):
            paths = ", ".join(path for path, theirs in self.owned.items() if theirs == owners)
            who = f"one of {', '.join(owners)}" if owners else "nobody who can be reached"
            yield f"; {who} as owner of {paths}"

    @property
    def undecided(self) -> tuple[str, ...]:
        """Those who may decide and have said nothing yet."""
        said = {one.by for one in self.decisions}
        return tuple(one for one in self.approvers if one not in said)


@dataclass(frozen=True, slots=True)
class Redeemed:
    """The decision that was taken, or the refusal and what is known about it.

    The state is still pending where a yes was taken and more people have to say it.
    """

    refusal: Refusal | None
    state: ApprovalState | None
    decided_by: str = ""
    decided_at: datetime | None = None
    given: int = 1
    required: int = 1


def approval_id(run_id: RunId, plan_hash: str) -> str:
    """Return the id of the approval of a plan: the same plan has the same approval."""
    return f"{run_id}.{plan_hash[:12]}"


def digest(nonce: str) -> str:
    """Return what is kept of a nonce."""
    return hashlib.sha256(nonce.encode()).hexdigest()


def listed(names: tuple[str, ...]) -> str:
    """Write names the way the scripts look for one: each between line ends."""
    return "\n".join(["", *sorted(set(names)), ""])


def written(quorum: Quorum) -> dict[str, str]:
    """Return the fields of a record that say what makes a yes whole."""
    return {
        "people": str(quorum.people),
        "alone": listed(quorum.alone),
        "refused": listed(quorum.refused),
    }


def parsed(run_id: RunId, record: dict[str, str]) -> Approval | None:
    """Return the approval that a record holds; None for one that holds none."""
    if "state" not in record:
        return None
    decided = record.get("decided_at")
    said = [value for name, value in record.items() if name.startswith((YES, NO))]
    owned = sorted(name for name in record if name.startswith(OWNED))
    decisions = [Decision.model_validate_json(one) for one in said]
    return Approval(
        id=approval_id(run_id, record["plan_hash"]),
        run_id=run_id,
        plan_hash=record["plan_hash"],
        state=ApprovalState(record["state"]),
        expires_at=from_millis(record["expires"]),
        approvers=_names(record, "approvers"),
        decided_by=record.get("decided_by", ""),
        decided_at=from_millis(decided) if decided else None,
        reason=record.get("reason", ""),
        quorum=Quorum(
            people=int(record.get("people", "1")),
            alone=_names(record, "alone"),
            refused=_names(record, "refused"),
        ),
        askers=_names(record, "askers"),
        owned={name.removeprefix(OWNED): _names(record, name) for name in owned},
        breakers=_names(record, "breakers"),
        decisions=tuple(sorted(decisions, key=lambda one: (one.decided_at, one.by))),
    )


def redeemed(verdict: str, *known: str) -> Redeemed:
    """Return what a script answered."""
    state, who, when, given, required = known
    return Redeemed(
        refusal=None if verdict == "ok" else Refusal(verdict),
        state=ApprovalState(state) if state else None,
        decided_by=who,
        decided_at=from_millis(when) if when else None,
        given=int(given or 1),
        required=int(required or 1),
    )


def _names(record: dict[str, str], field: str) -> tuple[str, ...]:
    return tuple(record.get(field, "").strip("\n").splitlines())
