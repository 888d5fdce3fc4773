"""Whom people's decisions are asked of, how long they have, and what makes a yes whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from tocsin_contracts import Alert, Hypothesis, Risk
from tocsin_kit.quorum import LOGIN, ONE, Quorum

CHAT = "chat"
"""The source of what a person says; its instance is who, where each has a secret of their own."""

TIERS: Mapping[Risk, Quorum] = {
    Risk.LOW: ONE,
    Risk.MEDIUM: ONE,
    Risk.HIGH: Quorum(people=2, alone=LOGIN, refused=("slack",)),
}
"""A chat proves less than a login does, so it approves nothing of high risk."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The operator's rules of approvals."""

    approvers: Sequence[str]
    patience: timedelta
    tiers: Mapping[Risk, Quorum] = field(default_factory=lambda: TIERS)
    self_approval: bool = False
    groups: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    escalation: timedelta = timedelta(minutes=30)
    accounts: Mapping[str, str] = field(default_factory=dict)

    def group(self, team: str, number: int) -> tuple[str, ...]:
        """Return a group of approvers of a team, the first being 0; empty after the last."""
        named = self.groups.get(team) or self.groups.get("") or (self.approvers,)
        return tuple(named[number]) if number < len(named) else ()

    def escalations(self, team: str) -> tuple[timedelta, ...]:
        """Return how long after its opening an approval is open to each further group."""
        named = self.groups.get(team) or self.groups.get("") or ()
        waits = (self.escalation * number for number in range(1, len(named)))
        return tuple(wait for wait in waits if wait < self.patience)

    def askers(self, alert: Alert, hypothesis: Hypothesis) -> tuple[str, ...]:
        """Return the approvers who asked for the run by `/chat`, or for its change by a comment."""
        if self.self_approval:
            return ()
        by_chat = alert.instance if alert.source == CHAT else ""
        author = hypothesis.remark.author if hypothesis.remark else ""
        by_comment = self.accounts.get(author, author)
        return tuple(who for who in (by_chat, by_comment) if who in self.approvers)

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
