"""Plans that a rule of the operator lets through without a person; there is none by default."""

from collections.abc import Sequence
from datetime import timedelta

from tocsin_action.answering import Answering
from tocsin_action.ports import Approvals, Reader
from tocsin_contracts import ApprovalRequested, Event, IncidentOpened
from tocsin_gitops import auto_approval
from tocsin_gitops.auto_approval import AutoApproval, Case
from tocsin_kit import logging

log = logging.get(__name__)

FRESH = timedelta(minutes=30)
"""How long what triage saw of change freezes lets a rule decide; after that people do."""


class Unasked:
    """Looks at a plan that waits as an approver would, by the rules of gitops.yaml alone."""

    def __init__(
        self,
        rules: Sequence[AutoApproval],
        approvals: Approvals,
        runs: Reader,
        answering: Answering,
    ) -> None:
        self._rules = rules
        self._approvals = approvals
        self._runs = runs
        self._answering = answering

    async def on_approval_requested(self, event: ApprovalRequested) -> Sequence[Event]:
        """Let a rule decide if one fits, and tell whoever asked for the plan that it waits."""
        await self._decide(event)
        return await self._answering.on_approval_requested(event)

    async def _decide(self, event: ApprovalRequested) -> None:
        run = await self._runs.get(event.run_id) if self._rules else None
        opened = run.fact(IncidentOpened) if run else None
        if opened is None:
            return
        if event.at - opened.at > FRESH:
            log.info("action.rule_does_not_fit", rule="", why="triage looked for freezes long ago")
            return
        case = Case(
            plan=event.plan,
            hypothesis=event.hypothesis,
            alerts=opened.auto_approve,
            environment=opened.environment,
            freeze=event.freeze or opened.freeze,
        )
        for rule in self._rules:
            why = auto_approval.refusal(rule, case)
            if not why:
                plan_hash = event.plan.plan_hash
                taken = await self._approvals.decide_by_rule(event.run_id, plan_hash, rule.name)
                log.info("action.rule", rule=rule.name, refused=taken.refusal or "")
                return
            log.info("action.rule_does_not_fit", rule=rule.name, why=why)
