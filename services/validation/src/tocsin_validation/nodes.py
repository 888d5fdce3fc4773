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
    Plan,
    PlanDrafted,
    PlanSuperseded,
    RunId,
)
from tocsin_gitops import editing, past
from tocsin_gitops.config import GitOps
from tocsin_gitops.editing import EditRefused
from tocsin_validation import drafting, endings
from tocsin_validation.checks.policy import PolicyAllows
from tocsin_validation.convergence import Convergence
from tocsin_validation.judge import Failure, Judge
from tocsin_validation.outlook.risk import Judged
from tocsin_validation.ports import Check, Consequence, Proposed, Source
from tocsin_validation.resolving import Resolver, Unresolved
from tocsin_validation.resolving.ties import Ties
from tocsin_validation.state import ValidationState
from tocsin_validation.surroundings.surveyor import Means, Pinned, Surveyor


class Nodes:
    """The steps, with the repositories and clusters they read and the checks they run."""

    def __init__(
        self,
        gitops: GitOps,
        source: Source,
        checks: Iterable[Check],
        clusters: Clusters,
        convergence: Convergence,
        *,
        means: Means | None = None,
        console: str = "",
        ties: Ties | None = None,
    ) -> None:
        self._gitops = gitops
        self._source = source
        self._judge = Judge(checks, Surveyor(source, clusters, means or Means()))
        self._convergence = convergence
        self._words = drafting.Words(console=console)
        self._resolver = Resolver(gitops, source, clusters, ties)

    async def resolve(self, state: ValidationState) -> ValidationState:
        """Find the one file that owns the field, and pin the commit it was found at."""
        run_id, alert = RunId(state["run_id"]), state["alert"]
        finding = state["hypothesis"].finding
        if finding.cause is CauseClass.NO_INCIDENT:
            told = endings.no_change(run_id, EndReason.NO_INCIDENT, finding.summary)
            return {"answer": told}
        found = await self._resolver.resolve(alert, finding, run_id)
        if isinstance(found, Unresolved):
            return {"answer": endings.unresolved(run_id, alert, found)}
        declared = state["hypothesis"].model_copy(update={"finding": found.finding})
        return {
            "hypothesis": declared,
            "target": found.target,
            "base_sha": found.base_sha,
            "edits": list(found.edits),
        }

    async def converge(self, state: ValidationState) -> ValidationState:
        """Decide what becomes of the pull requests of the issue, before anybody is asked."""
        return await self._convergence.converge(state)

    async def check(self, state: ValidationState) -> ValidationState:
        """Ask every check; the first kind of failure decides what becomes of the run."""
        pinned = await self._pinned(state)
        change = await self._proposed(state, pinned)
        judged, failure = await self._judge.judge(RunId(state["run_id"]), change, pinned)
        return {
            "checks": list(judged.checks),
            "effects": list(judged.effects),
            "risk": judged.risk,
            "risk_reasons": list(judged.reasons),
            "answer": _consequences(state, failure, judged.checks) if failure else [],
        }

    async def draft(self, state: ValidationState) -> ValidationState:
        """Freeze the plan: the exact diff, and the hash that an approval binds."""
        run_id = RunId(state["run_id"])
        proposed = await self._proposed(state, await self._pinned(state))
        change = await self._convergence.placed(state, proposed)
        base_sha, parent_sha = state["base_sha"], state["parent_sha"]
        if parent_sha != base_sha and (denied := _denied(state, change)):
            return {"answer": denied}
        plan = drafting.plan(
            run_id, change, _judged(state), base_sha, parent_sha=parent_sha, words=self._words
        )
        drafted = PlanDrafted(
            run_id=run_id, alert=state["alert"], hypothesis=state["hypothesis"], plan=plan
        )
        return {"answer": [*_superseded(state, plan), drafted]}

    async def _pinned(self, state: ValidationState) -> Pinned:
        repository, sha = self._gitops.repository(state["target"].repo), state["base_sha"]
        return Pinned(repository, sha, await self._source.files(repository, sha))

    async def _proposed(self, state: ValidationState, pinned: Pinned) -> Proposed:
        """Build the change from the pinned commit: the same one however often this runs."""
        target, edits = state["target"], tuple(state["edits"])
        finding, repository, files = state["hypothesis"].finding, pinned.repository, pinned.files
        touched = {edit.file: files[edit.file] for edit in edits if edit.file in files}
        before = {path: file.data for path, file in touched.items()}
        key = drafting.issue_key(repository.cluster, target, finding)
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
            head_branch=drafting.head_branch(key, finding),
            past=await past.steps(self._source, repository, pinned.sha, edits),
        )


def _after(before: Mapping[str, bytes], edits: Sequence[Edit]) -> dict[str, bytes]:
    """An edit that cannot be made is for the checks to tell, not a fault of this service."""
    try:
        return editing.apply(before, edits)
    except EditRefused:
        return {}


def _denied(state: ValidationState, change: Proposed) -> list[Event]:
    """What is added to a pull request is judged a second time, as the one commit that it is."""
    check = PolicyAllows()
    result = check.run(change)
    failed = result.verdict is CheckVerdict.FAIL
    return _consequences(state, Failure(check, result), [result]) if failed else []


def _judged(state: ValidationState) -> Judged:
    return Judged(
        tuple(state["checks"]),
        tuple(state["effects"]),
        state["risk"],
        tuple(state["risk_reasons"]),
    )


def _superseded(state: ValidationState, plan: Plan) -> list[Event]:
    """A plan that people may have seen is said to be replaced, unless it came out the same."""
    old = state.get("replaces", "")
    if old in ("", plan.plan_hash):
        return []
    last = next(reversed(state["hypothesis"].amendments), None)
    why = "what it would change had moved on"
    if last and last.plan_hash == old:
        why = f"{last.by} gave other values: {'; '.join(last.changes)}"
    return [
        PlanSuperseded(run_id=RunId(state["run_id"]), plan_hash=old, by=plan.plan_hash, why=why)
    ]


def _consequences(
    state: ValidationState, failure: Failure, checks: Sequence[CheckResult]
) -> list[Event]:
    run_id, alert, hypothesis = RunId(state["run_id"]), state["alert"], state["hypothesis"]
    check, result = failure.check, failure.result
    match check.consequence:
        case Consequence.LOOK_AGAIN:
            return endings.look_again(run_id, alert, hypothesis, checks)
        case Consequence.REFRESH:
            return endings.look_afresh(run_id, alert, hypothesis, checks)
        case Consequence.NO_CHANGE:
            return endings.no_change(run_id, check.reason, f"{result.detail}.")
    sentence = f"{check.name} failed: {result.detail}."
    seen = [hypothesis.finding.summary]
    return endings.escalated(run_id, alert, check.reason, sentence, seen=seen, checks=checks)
