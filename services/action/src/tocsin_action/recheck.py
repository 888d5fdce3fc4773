"""What has to hold again after the yes, right before anything is written."""

from collections.abc import Mapping

from tocsin_contracts import Intent, Plan
from tocsin_gitops import editing, hashing, policy
from tocsin_gitops.carrying import carried
from tocsin_gitops.diffs import unified_diff
from tocsin_gitops.editing import EditRefused
from tocsin_gitops.policy import WritePolicy
from tocsin_gitops.undoing import Step


def changed_plan(plan: Plan, run_id: str) -> str:
    """Return why the plan is not the one its hash names, or an empty string."""
    if hashing.plan_hash(plan, run_id) != plan.plan_hash:
        return "the plan does not have the hash it shows"
    if not hashing.is_branch_of(plan.head_branch, plan.issue_key):
        return f"the branch {plan.head_branch!r} is not that of the plan's issue"
    if (plan.intent is Intent.OPEN) != (plan.parent_sha == plan.base_sha):
        return "the plan builds on another commit than it says"
    if len(plan.title.splitlines()) != 1:
        return "the title is not one line"
    return ""


def rebuilt(
    plan: Plan, before: Mapping[str, bytes], allowed: WritePolicy, past: tuple[Step, ...] = ()
) -> tuple[Mapping[str, bytes], str]:
    """Apply the plan's edits again; return the files, or why they are not those approved.

    `past` is what the commits did that edits undo, read anew from the repository.
    """
    try:
        after = editing.apply(before, plan.edits)
    except EditRefused as refused:
        return {}, f"the edit no longer applies: {refused}"
    approved = {change.path: change.sha256_after for change in plan.files}
    if {path: hashing.sha256(data) for path, data in after.items()} != approved:
        return {}, "the edited files are not the bytes that were approved"
    if unified_diff(before, after) != plan.diff:
        return {}, "the diff that was shown is not what would be written"
    change = policy.Change(
        repo=plan.target.repo,
        edits=plan.edits,
        before=before,
        after=after,
        modes=_modes(plan, before),
        past=past,
    )
    return after, _forbidden(change, allowed)


def forbidden_as_a_whole(
    plan: Plan, base: Mapping[str, bytes], allowed: WritePolicy, past: tuple[Step, ...] = ()
) -> str:
    """Return why the base may not become what the plan's branch will hold, or an empty string.

    Small steps, each allowed, must not add up to a large one.
    """
    try:
        edits = carried(plan.edits, base, exactly=True)
        after = editing.apply(base, edits)
    except EditRefused as refused:
        return f"it no longer fits the base: {refused}"
    change = policy.Change(
        repo=plan.target.repo,
        edits=edits,
        before={path: base[path] for path in after if path in base},
        after=after,
        modes=_modes(plan, base),
        past=past,
    )
    return _forbidden(change, allowed) if edits else ""


def _modes(plan: Plan, before: Mapping[str, bytes]) -> dict[str, str]:
    return {change.path: change.mode for change in plan.files if change.path in before}


def _forbidden(change: policy.Change, allowed: WritePolicy) -> str:
    broken = [violation.detail for violation in policy.judge(allowed, change)]
    return f"the write policy forbids it: {'; '.join(broken)}" if broken else ""
