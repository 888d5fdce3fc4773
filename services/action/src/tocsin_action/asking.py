"""Whom people's decisions are asked of, how long they have, and what makes a yes whole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tocsin_contracts import Alert, Hypothesis, Plan, Risk
from tocsin_contracts.owners import CodeOwners, FileOwners
from tocsin_kit.quorum import LOGIN, ONE, Quorum

CHAT = "chat"
"""The source of what a person says; its instance is who, where each has a secret of their own."""

TIERS: Mapping[Risk, Quorum] = {
    Risk.LOW: ONE,
    Risk.MEDIUM: ONE,
    Risk.HIGH: Quorum(people=2, alone=LOGIN, refused=("slack",)),
}
"""A chat proves less than a login does, so it approves nothing of high risk."""


def nobody(team: str, now: datetime) -> str:
    """Return that nobody is on call."""
    del team, now
    return ""


@dataclass(frozen=True, slots=True)
class Asking:
    """The operator's rules of approvals.

    `on_call` says who is on call for a team at a time; `breakers` may break the glass; `owners`
    says which approvers an owner in CODEOWNERS stands for, by its name in lower case.
    """

    approvers: Sequence[str]
    patience: timedelta
    tiers: Mapping[Risk, Quorum] = field(default_factory=lambda: TIERS)
    self_approval: bool = False
    groups: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    escalation: timedelta = timedelta(minutes=30)
    accounts: Mapping[str, str] = field(default_factory=dict)
    breakers: Sequence[str] = ()
    codeowners: CodeOwners = CodeOwners.OFF
    owners: Mapping[str, Sequence[str]] = field(default_factory=dict)
    on_call: Callable[[str, datetime], str] = nobody

    def first(self, team: str, plan: Plan, now: datetime) -> tuple[str, ...]:
        """Return who may decide from the start: who is on call or the first group, and owners."""
        on_call = self.on_call(team, now)
        asked = (on_call,) if on_call else self.group(team, 0)
        owners = (who for people in self.owned(plan).values() for who in people)
        return tuple(dict.fromkeys((*asked, *owners)))

    def group(self, team: str, number: int) -> tuple[str, ...]:
        """Return a group of approvers of a team, the first being 0; empty after the last."""
        groups = self.groups.get(team) or self.groups.get("") or (self.approvers,)
        return tuple(groups[number]) if number < len(groups) else ()

    def next_group(self, team: str, asked: Sequence[str]) -> int:
        """Return the number of the group that is asked after the first people who were.

        That is the first group, where somebody on call was asked before it.
        """
        return 1 if set(self.group(team, 0)) <= set(asked) else 0

    def askers(self, alert: Alert, hypothesis: Hypothesis) -> tuple[str, ...]:
        """Return the approvers who asked for the run or for its change.

        By `/chat`, by a comment, or by giving other values to a plan that waited.
        """
        if self.self_approval:
            return ()
        by_chat = alert.instance if alert.source == CHAT else ""
        author = hypothesis.remark.author if hypothesis.remark else ""
        by_comment = self.accounts.get(author, author)
        asked = (by_chat, by_comment, *(one.by for one in hypothesis.amendments))
        return tuple(who for who in dict.fromkeys(asked) if who in self.approvers)

    def quorum(self, risk: Risk, hypothesis: Hypothesis) -> Quorum:
        """Return what makes a yes whole.

        It takes two people where somebody asked by a comment and nobody knows which approver that
        is: one of the two did not ask.
        """
        tier = self.tiers[risk]
        author = hypothesis.remark.author if hypothesis.remark else ""
        if self.self_approval or not author or author in self.accounts:
            return tier
        return tier.model_copy(update={"people": max(2, tier.people), "alone": ()})

    def owned(self, plan: Plan) -> dict[str, tuple[str, ...]]:
        """Return the approvers of whom one has to agree, by file; of one nobody may be known."""
        if self.codeowners is not CodeOwners.REQUIRE:
            return {}
        return {one.what: self._known(one) for one in plan.owners}

    def owners_of(self, plan: Plan) -> str:
        """Say who owns the files of a plan, and which owners stand for nobody."""
        if self.codeowners is CodeOwners.OFF:
            return ""
        return "; ".join(f"{one.what}: {self._told(one)}" for one in plan.owners)

    def _told(self, owned: FileOwners) -> str:
        known = {who: ", ".join(self.owners.get(who.lower(), ())) for who in owned.owners}
        told = [f"{who} ({people or 'nobody in TOCSIN_OWNERS'})" for who, people in known.items()]
        return " or ".join(told) or "nobody can tell"

    def _known(self, owned: FileOwners) -> tuple[str, ...]:
        people = (who for one in owned.owners for who in self.owners.get(one.lower(), ()))
        return tuple(dict.fromkeys(people))
