"""What has to hold again after the yes, right before anything is written."""

from collections.abc import Mapping

from tocsin_contracts import Plan
from tocsin_gitops import editing, hashing
from tocsin_gitops.editing import EditRefused


def changed_plan(plan: Plan, run_id: str) -> str:
    """Return why the plan is not the one its hash names, or an empty string."""
    if hashing.plan_hash(plan, run_id) != plan.plan_hash:
        return "the plan does not have the hash it shows"
    return ""


def rebuilt(plan: Plan, before: Mapping[str, bytes]) -> tuple[Mapping[str, bytes], str]:
    """Apply the plan's edits again; return the files, or why they are not those approved."""
    try:
        after = editing.apply(before, plan.edits)
    except EditRefused as refused:
        return {}, f"the edit no longer applies: {refused}"
    approved = {change.path: change.sha256_after for change in plan.files}
    if {path: hashing.sha256(data) for path, data in after.items()} != approved:
        return {}, "the edited files are not the bytes that were approved"
    return after, ""
