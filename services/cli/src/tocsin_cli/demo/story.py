"""What the demo shows: three alerts, one cause, one diff, a decision, one pull request."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from rich.console import Console

from tocsin_cli import prompt
from tocsin_cli.client import Gateway, Ingest
from tocsin_cli.demo import proof
from tocsin_cli.demo.patience import SECONDS, insist
from tocsin_cli.demo.proof import Claim
from tocsin_cli.demo.stage import Stage
from tocsin_cli.errors import RefusedError
from tocsin_cli.live import POLL_SECONDS, Live
from tocsin_cli.render import diff
from tocsin_cli.settings import Access
from tocsin_cli.terminal import show
from tocsin_cli.workspace import Tokens, Up
from tocsin_contracts import Plan
from tocsin_contracts.views import (
    ApprovalState,
    DecisionView,
    DeliveryReceipt,
    DeliveryStatus,
    RunView,
)
from tocsin_kit.errors import PermanentError

_ALERTS = 3
_REASON = "not now"


@dataclass(frozen=True, slots=True)
class Story:
    """One telling of the demo, on a stage, to whoever looks at the console."""

    stage: Stage
    console: Console
    ingest: Ingest
    gateway: Gateway
    says_yes: bool

    async def tell(self) -> tuple[Claim, ...]:
        """Show everything; return what was claimed on the way and whether it holds."""
        run_id, opened = await self._alert_arrives()
        live = Live(self.console)
        view = await self._until(run_id, _waits_for_decision, live)
        plan = _plan(view)
        if not await self._approves():
            return (opened, await self._nothing_happens(run_id, plan, live))
        await self._decide(run_id, partial(self.gateway.approve, run_id, plan.plan_hash))
        view = await self._until(run_id, lambda run: run.pull_request is not None, live)
        shown = await self._what_git_says(view)
        return (opened, *shown, *await self._alert_comes_again(run_id))

    async def _alert_arrives(self) -> tuple[str, Claim]:
        self._say(f"Alertmanager sends {_ALERTS} firing alerts about three pods of one workload …")
        receipt = await self._deliver()
        runs = {alert.run_id for alert in receipt.alerts}
        known = {run.run_id for run in await insist(self.gateway.runs)}
        one = len(receipt.alerts) == _ALERTS and runs == known == {receipt.run_id}
        self._say(f"… and gets 202 at once: run {receipt.run_id}", "")
        return receipt.run_id, Claim(f"{_ALERTS} alerts opened exactly one run", one)

    async def _deliver(self) -> DeliveryReceipt:
        payload = await asyncio.to_thread(self.stage.payload.read_bytes)
        return await insist(partial(self.ingest.alertmanager, payload))

    async def _decide(self, run_id: str, say: Callable[[], Awaitable[DecisionView]]) -> None:
        """Say it until it is heard; an answer that was lost on its way is found in the run."""
        try:
            await insist(say)
        except RefusedError:
            run = await insist(partial(self.gateway.run, run_id))
            if run.approval is None or not run.approval.decided_by:
                raise

    async def _approves(self) -> bool:
        question = "Approve? [y/N]"
        if self.says_yes:
            self._say(f"{question} yes", "")
            return True
        said = await prompt.ask(self.console, question)
        self._say("")
        return said.lower() in ("y", "yes")

    async def _nothing_happens(self, run_id: str, plan: Plan, live: Live) -> Claim:
        no = partial(self.gateway.reject, run_id, plan.plan_hash, _REASON)
        await self._decide(run_id, no)
        await self._until(run_id, lambda run: run.finished is not None, live)
        return proof.nothing_written(await asyncio.to_thread(proof.written, self.stage))

    async def _what_git_says(self, view: RunView) -> tuple[Claim, ...]:
        plan, opened, approval = _plan(view), view.pull_request, view.approval
        now = await asyncio.to_thread(proof.written, self.stage)
        changes = await asyncio.to_thread(proof.diff, self.stage, plan.head_branch)
        self._say("What git says about the branch:", "")
        show(self.console, diff(changes))
        hashes = {plan.plan_hash, opened and opened.plan_hash, approval and approval.plan_hash}
        return (
            proof.one_pull_request(now),
            Claim(f"the branch is {plan.head_branch}", now.branches == (plan.head_branch,)),
            Claim("one line changed, the one that was lowered", proof.is_the_fix(changes)),
            Claim("the diff is byte for byte the approved one", _same(changes, plan.diff)),
            Claim(f"the approved hash is the plan's: {plan.short_hash}", len(hashes) == 1),
        )

    async def _alert_comes_again(self, run_id: str) -> tuple[Claim, ...]:
        self._say("The same three alerts are sent once more …", "")
        receipt = await self._deliver()
        told = {(alert.status, alert.run_id) for alert in receipt.alerts}
        await self._until(run_id, lambda run: run.occurrences >= 2 * _ALERTS, None)
        now = await asyncio.to_thread(proof.written, self.stage)
        return (
            Claim("the second delivery attached to the run", told == {_attached(run_id)}),
            Claim("still one run", len(await insist(self.gateway.runs)) == 1),
            Claim("no second branch, no second pull request", proof.one_pull_request(now).holds),
        )

    async def _until(
        self, run_id: str, reached: Callable[[RunView], bool], live: Live | None
    ) -> RunView:
        try:
            async with asyncio.timeout(SECONDS):
                while True:
                    view = await insist(partial(self.gateway.run, run_id))
                    if live is not None:
                        live.update(view)
                    if reached(view):
                        return view
                    if view.finished is not None:
                        raise PermanentError(f"run {run_id} ended early: {view.ended}")
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise PermanentError(f"run {run_id} got no further in {SECONDS:g} s") from None

    def _say(self, *lines: str) -> None:
        show(self.console, *lines)


@asynccontextmanager
async def story(
    stage: Stage, console: Console, up: Up, tokens: Tokens, *, says_yes: bool
) -> AsyncIterator[Story]:
    """Connect a story to the Tocsin that it is about."""
    async with (
        Ingest(Access(up.ingest_url, tokens.ingest_token)) as ingest,
        Gateway(Access(up.gateway_url, tokens.api_token)) as gateway,
    ):
        yield Story(stage, console, ingest, gateway, says_yes)


def _waits_for_decision(run: RunView) -> bool:
    return run.approval is not None and run.approval.state is ApprovalState.PENDING


def _plan(run: RunView) -> Plan:
    if run.plan is None:
        raise PermanentError(f"run {run.run_id} asks for a decision about no plan")
    return run.plan


def _attached(run_id: str) -> tuple[DeliveryStatus, str]:
    return DeliveryStatus.ATTACHED, run_id


def _same(ours: str, theirs: str) -> bool:
    """Whether two diffs change the same lines of the same files; only git writes index lines."""
    return _essence(ours) == _essence(theirs)


def _essence(unified: str) -> list[str]:
    return [line for line in unified.splitlines() if not line.startswith(("diff ", "index ", "@@"))]
