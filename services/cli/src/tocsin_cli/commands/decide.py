"""`tocsin run approve|reject|cancel|extend`: decide about exactly what was seen."""

import sys
from decimal import Decimal, InvalidOperation
from typing import Annotated

import typer
from rich.console import Console

from tocsin_cli import amending, prompt, render
from tocsin_cli.client import Gateway
from tocsin_cli.commands.connect import connected
from tocsin_cli.commands.options import Data, GatewayUrl, Json, RunId, Token
from tocsin_cli.errors import RefusedError, UsageError
from tocsin_cli.terminal import answer, show
from tocsin_cli.workspace import DEFAULT
from tocsin_contracts import Amounts, Plan
from tocsin_contracts.views import ApprovalState, DecisionView

TYPED = 6
SHOWN = 12

ASKED = (
    "asked for other values than those of plan {}: a new plan, which needs a yes of its own, or "
    "why there is none, follows in a moment"
)

PlanHash = Annotated[
    str,
    typer.Option("--plan-hash", help=f"Hash of the plan you saw, {SHOWN} digits or all of it."),
]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is kept with the decision.")]

Values = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Ask for a plan with another value, which needs a yes of its own; repeatable.",
    ),
]
BreakGlass = Annotated[
    bool,
    typer.Option(
        "--break-glass",
        help="Say yes alone, past the rules of who has to. Give a --reason; everybody hears.",
    ),
]


def approve(
    run: RunId,
    *,
    plan_hash: PlanHash = "",
    reason: Reason = "",
    values: Values = None,
    break_glass: BreakGlass = False,
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Approve the plan of a run, after a look at its diff; or ask for it with other values."""
    if values and break_glass:
        raise UsageError("--set asks for a new plan, which --break-glass cannot approve yet")
    if as_json and not plan_hash:
        raise UsageError("--json shows nobody the plan: give --plan-hash too")

    async def ask(gateway: Gateway) -> None:
        console = Console()
        plan = await _plan(gateway, run)
        if not as_json:
            show(console, *render.plan(plan), "")
        changes = amending.new_values(plan, values or ())
        await _seen(console, plan, plan_hash)
        if changes:
            asked = await gateway.amend(run, plan.plan_hash, changes, reason)
            answer(asked, f"{asked.by} {ASKED.format(plan.short_hash)}", as_json=as_json)
        else:
            taken = await gateway.approve(run, plan.plan_hash, reason, break_glass=break_glass)
            answer(taken, _told(taken, plan), as_json=as_json)

    connected(ask, data, gateway_url, token)


def reject(
    run: RunId,
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why not; required.")],
    plan_hash: PlanHash = "",
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Reject the plan of a run; nothing is written."""

    async def ask(gateway: Gateway) -> None:
        plan = await _plan(gateway, run)
        if plan_hash:
            check_named(plan, plan_hash)
        taken = await gateway.reject(run, plan.plan_hash, reason)
        told = f"{taken.decision.value} by {taken.by}: plan {plan.short_hash}"
        answer(taken, told, as_json=as_json)

    connected(ask, data, gateway_url, token)


def cancel(
    run: RunId,
    *,
    reason: Reason = "",
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Stop a run wherever it is."""

    async def ask(gateway: Gateway) -> None:
        taken = await gateway.cancel(run, reason)
        told = f"run {taken.run_id} was asked to stop by {taken.by}"
        answer(taken, told, as_json=as_json)

    connected(ask, data, gateway_url, token)


def extend(
    run: RunId,
    *,
    calls: Annotated[int, typer.Option("--calls", min=0, help="Calls of the model.")] = 0,
    tool_calls: Annotated[int, typer.Option("--tool-calls", min=0, help="Calls of tools.")] = 0,
    tokens: Annotated[int, typer.Option("--tokens", min=0)] = 0,
    seconds: Annotated[float, typer.Option("--seconds", min=0)] = 0,
    money: Annotated[str, typer.Option("--money", help="US dollars, such as 0.50.")] = "0",
    end: Annotated[bool, typer.Option("--end", help="Give nothing: end with what there is.")] = (
        False
    ),
    reason: Reason = "",
    data: Data = DEFAULT,
    gateway_url: GatewayUrl = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Give more to an investigation that waits for a larger budget, or let it end."""
    given = {"model_calls": calls, "tool_calls": tool_calls, "tokens": tokens, "seconds": seconds}
    amounts = Amounts(**given, money=_dollars(money))
    if end == (amounts != Amounts()):
        raise UsageError("give at least one amount, such as --calls 10, or --end alone")

    async def ask(gateway: Gateway) -> None:
        told = await gateway.extend(run, amounts, reason, granted=not end)
        what = "goes on" if told.granted else "ends with what it has"
        answer(told, f"run {told.run_id} {what}, said {told.by}", as_json=as_json)

    connected(ask, data, gateway_url, token)


def check_named(plan: Plan, plan_hash: str) -> None:
    """Refuse when the plan that waits is another one than the one that was seen."""
    if len(plan_hash) < SHOWN:
        raise UsageError(f"--plan-hash {plan_hash!r}: give at least {SHOWN} digits")
    if not plan.plan_hash.startswith(plan_hash.lower()):
        raise RefusedError(
            f"the run's plan is {plan.short_hash}, not {plan_hash!r}: look at the diff again"
        )


def _dollars(text: str) -> Decimal:
    try:
        given = Decimal(text)
    except InvalidOperation:
        given = Decimal(-1)
    if not given.is_finite() or given < 0:
        raise UsageError(f"--money {text!r}: say US dollars, such as 0.50")
    return given


async def _plan(gateway: Gateway, run: str) -> Plan:
    view = await gateway.run(run)
    if view.plan is None:
        raise RefusedError(f"run {run!r} has no plan to decide about; it is {view.state.value}")
    return view.plan


def _told(taken: DecisionView, plan: Plan) -> str:
    what = taken.decision.value
    if taken.decision is ApprovalState.PENDING:
        what = f"{taken.given} of {taken.required} said yes, the last one"
    return f"{what} by {taken.by}: plan {plan.short_hash}"


async def _seen(console: Console, plan: Plan, plan_hash: str) -> None:
    if plan_hash:
        check_named(plan, plan_hash)
    else:
        await _retyped(console, plan)


async def _retyped(console: Console, plan: Plan) -> None:
    if not sys.stdin.isatty():
        raise UsageError(f"no terminal to ask at: give --plan-hash {plan.short_hash}")
    typed = await prompt.ask(console, f"Type the first {TYPED} digits of the hash to approve:")
    if typed.lower() != plan.plan_hash[:TYPED]:
        raise RefusedError(f"not approved: {typed!r} is not {plan.plan_hash[:TYPED]!r}")
