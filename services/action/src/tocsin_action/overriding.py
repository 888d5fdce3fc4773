"""What a pull request says of a plan that one person approved past the rules; pure."""

from tocsin_action.wording import plain
from tocsin_contracts import Decision, Plan
from tocsin_gitops import messages
from tocsin_kit.approvals import Approval
from tocsin_kit.untrusted import line

REASON = 500


def broken(approval: Approval) -> Decision | None:
    """Return the decision that broke the glass, if one did."""
    return next((one for one in approval.decisions if one.break_glass), None)


def stated(plan: Plan, approval: Approval | None) -> Plan:
    """Return the plan as it is written: a broken glass stands in its text and its trailers."""
    decision = broken(approval) if approval else None
    if decision is None:
        return plan
    last = messages.trailers(plan.body)
    said = plan.body.removesuffix(last).rstrip("\n")
    warning = (
        f"**Break-glass:** {plain(decision.by, 100)} approved this alone, past the rules of who "
        f"has to. Why: {plain(decision.reason, REASON)}"
    )
    mark = messages.paragraph({"Override": line(decision.by)})
    return plan.model_copy(update={"body": f"{said}\n\n{warning}\n\n{mark}\n{last}"})
