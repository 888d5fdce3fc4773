"""The steps from a hypothesis to a plan; each takes the state and returns what changed."""

from collections.abc import Iterable, Mapping, Sequence

from tocsin_cluster.port import Clusters
from tocsin_contracts import (
    CauseClass,
    CheckResult,
    CheckVerdict,
    Edit,
    EndReason,
    Event,
    PlanDrafted,
    RunId,
)
from tocsin_gitops import editing
from tocsin_gitops.config import GitOps
from tocsin_gitops.editing import EditRefused
from tocsin_validation import drafting, endings
from tocsin_validation.ports import Check, Consequence, Proposed, Source
from tocsin_validation.resolving import Resolver, Unresolved
from tocsin_validation.state import ValidationState


class Nodes:
    """The steps, with the repositories and clusters they read and the checks they run."""

    def __init__(
        self, gitops: GitOps, source: Source, checks: Iterable[Check], clusters: Clusters
    ) -> None:
        self._gitops = gitops
        self._source = source
        self._checks = tuple(checks)
        self._clusters = clusters
        self._resolver = Resolver(gitops, source, clusters)

    async def resolve(self, state: ValidationState) -> ValidationState:
        """Find the one file that owns the field, and pin the commit it was found at."""
        run_id, alert = RunId(state["run_id"]), state["alert"]
        finding = state["hypothesis"].finding
        if finding.cause is CauseClass.NO_INCIDENT:
            told = endings.no_change(run_id, EndReason.NO_INCIDENT, finding.summary)
            return {"answer": told}
        found = await self._resolver.resolve(alert, finding)
        if isinstance(found, Unresolved):
            return {"answer": endings.unresolved(run_id, alert, found)}
        return {"target": found.target, "base_sha": found.base_sha, "edits": list(found.edits)}

    async def check(self, state: ValidationState) -> ValidationState:
        """Ask every check; the first kind of failure decides what becomes of the run."""
        change = await self._proposed(state)
        results = [(check, check.run(change)) for check in self._checks]
        failed = [(check, one) for check, one in results if one.verdict is CheckVerdict.FAIL]
        checks = [one for _, one in results]
        return {"checks": checks, "answer": _consequences(state, failed, checks)}

    async def draft(self, state: ValidationState) -> ValidationState:
        """Freeze the plan: the exact diff, and the hash that an approval binds."""
        run_id = RunId(state["run_id"])
        change = await self._proposed(state)
        plan = drafting.plan(run_id, change, state["checks"], state["base_sha"])
        drafted = PlanDrafted(
            run_id=run_id, alert=state["alert"], hypothesis=state["hypothesis"], plan=plan
        )
        return {"answer": [drafted]}

    async def _proposed(self, state: ValidationState) -> Proposed:
        """Build the change from the pinned commit: the same one however often this runs."""
        target, edits = state["target"], tuple(state["edits"])
        finding = state["hypothesis"].finding
        repository = self._gitops.repository(target.repo)
        files = await self._source.files(repository, state["base_sha"])
        touched = {edit.file: files[edit.file] for edit in edits if edit.file in files}
        before = {path: file.data for path, file in touched.items()}
        key = drafting.issue_key(repository.cluster, target, finding)
        head_branch = drafting.head_branch(key, finding)
        return Proposed(
            alert=state["alert"],
            hypothesis=state["hypothesis"],
            target=target,
            edits=edits,
            before=before,
            after=_after(before, edits),
            modes={path: file.mode for path, file in touched.items()},
            policy=self._gitops.policy,
            issue_key=key,
            head_branch=head_branch,
            branch_at=await self._source.branch(repository, head_branch),
            pull=await self._source.find_pull(repository, head_branch),
        )


def _after(before: Mapping[str, bytes], edits: Sequence[Edit]) -> dict[str, bytes]:
    """An edit that cannot be made is for the checks to tell, not a fault of this service."""
    try:
        return editing.apply(before, edits)
    except EditRefused:
        return {}


def _consequences(
    state: ValidationState,
    failed: Sequence[tuple[Check, CheckResult]],
    checks: Sequence[CheckResult],
) -> list[Event]:
    if not failed:
        return []
    run_id, alert = RunId(state["run_id"]), state["alert"]
    check, result = failed[0]
    match check.consequence:
        case Consequence.LOOK_AGAIN:
            return endings.look_again(run_id, alert, state["hypothesis"], checks)
        case Consequence.NO_CHANGE:
            return endings.no_change(run_id, check.reason, f"{result.detail}.")
        case Consequence.ESCALATE:
            sentence = f"{check.name} failed: {result.detail}."
            seen = [state["hypothesis"].finding.summary]
            return endings.escalated(
                run_id, alert, check.reason, sentence, seen=seen, checks=checks
            )
