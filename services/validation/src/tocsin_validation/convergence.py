"""The step that turns a found change into what is done about the pull requests there are."""

from dataclasses import replace

from tocsin_contracts import CheckResult, CheckVerdict, Event, PullRequestFound, RunId
from tocsin_gitops import editing
from tocsin_gitops.config import GitOps, Repository
from tocsin_kit.clock import Clock
from tocsin_kit.errors import TransientError
from tocsin_kit.untrusted import line
from tocsin_validation import converging, drafting, endings
from tocsin_validation.converging import (
    Closed,
    Decision,
    Found,
    Increment,
    Open,
    Refused,
    Stop,
    Wait,
)
from tocsin_validation.ports import Proposed, Source
from tocsin_validation.standing import Desk
from tocsin_validation.state import ValidationState


class Convergence:
    """Decides before anything is asked of people: one issue has one pull request at a time."""

    def __init__(
        self, gitops: GitOps, source: Source, desk: Desk, clock: Clock, rules: converging.Rules
    ) -> None:
        self._gitops = gitops
        self._source = source
        self._desk = desk
        self._clock = clock
        self._rules = rules

    async def converge(self, state: ValidationState) -> ValidationState:
        """Claim the issue, look at its branches and pull requests, and go on or say why not.

        Raises TransientError while only time can tell; what moved meanwhile is looked at afresh.
        """
        run_id, alert = RunId(state["run_id"]), state["alert"]
        repository = self._gitops.repository(state["target"].repo)
        key, branch = self._names(state, repository)
        edits = tuple(state["edits"])
        if rival := await self._desk.rival(run_id, repository.name, key, edits):
            return {"answer": endings.rivalled(run_id, alert, rival)}
        hypothesis = state["hypothesis"]
        asked = hypothesis.remark is not None or bool(hypothesis.amendments)
        standing = await self._desk.standing(repository, key, branch, edits, exactly=asked)
        decision = converging.decide(standing, self._rules, self._clock.now())
        remark = state["hypothesis"].remark
        if remark and not isinstance(decision, Increment):
            return {"answer": endings.dropped(run_id, remark, _why_no_commit(decision))}
        if isinstance(decision, Wait):
            raise TransientError(f"{key!r}: {decision.why}", retry_in=decision.seconds)
        if isinstance(decision, Open | Increment) and (
            moved := await self._moved(repository, state)
        ):
            return {"answer": endings.look_afresh(run_id, alert, state["hypothesis"], moved)}
        return _next(state, decision, key)

    async def placed(self, state: ValidationState, change: Proposed) -> Proposed:
        """Return the change as it will be committed: on its branch, on top of what is there."""
        on_branch = replace(change, head_branch=state["head_branch"])
        if state["parent_sha"] == state["base_sha"]:
            return on_branch
        repository = self._gitops.repository(change.target.repo)
        files = await self._source.files(repository, state["parent_sha"])
        edits = tuple(state["carried"])
        touched = {edit.file: files[edit.file] for edit in edits if edit.file in files}
        before = {path: file.data for path, file in touched.items()}
        return replace(
            on_branch,
            edits=edits,
            before=before,
            after=editing.apply(before, edits),
            modes={path: file.mode for path, file in touched.items()},
        )

    async def _moved(self, repository: Repository, state: ValidationState) -> list[CheckResult]:
        """Return what failed if a file changed since it was looked at: this may have waited."""
        pinned, head = state["base_sha"], await self._source.head(repository)
        if head == pinned:
            return []
        files = sorted({edit.file for edit in state["edits"]})
        show = self._source.show
        moved = [
            f for f in files if await show(repository, pinned, f) != await show(repository, head, f)
        ]
        detail = f"{', '.join(moved)} changed after it was looked at"
        failed = CheckResult(check="no-later-change", verdict=CheckVerdict.FAIL, detail=detail)
        return [failed] if moved else []

    def _names(self, state: ValidationState, repository: Repository) -> tuple[str, str]:
        finding = state["hypothesis"].finding
        key = drafting.issue_key(repository.cluster, state["target"], finding)
        return key, drafting.head_branch(key, finding)


def _next(state: ValidationState, decision: Decision, key: str) -> ValidationState:
    """Where the plan goes, or how the run goes on without one."""
    if isinstance(decision, Open):
        return {"head_branch": decision.branch, "parent_sha": state["base_sha"]}
    if isinstance(decision, Increment):
        pull = decision.pull
        return {
            "head_branch": pull.head_branch,
            "parent_sha": pull.commit,
            "carried": list(decision.edits),
        }
    return {"answer": _told(state, decision, key)}


def _why_no_commit(decision: Decision) -> str:
    """What a comment asked for is one more commit on the pull request, or nothing."""
    match decision:
        case Found(why=why):
            return f"{decision.pull.url}: {why}"
        case Wait(why=why):
            return why
    return "the pull request is not open any more"


def _told(state: ValidationState, decision: Decision, key: str) -> list[Event]:
    run_id, alert = RunId(state["run_id"]), state["alert"]
    match decision:
        case Found():
            return [_found(state, decision, key)]
        case Closed():
            return endings.closed(run_id, decision)
        case Refused():
            return endings.refused(run_id, decision)
        case Stop():
            seen = [state["hypothesis"].finding.summary]
            return endings.escalated(run_id, alert, decision.reason, decision.sentence, seen=seen)
    raise TypeError(f"{decision!r} ends no run")


def _found(state: ValidationState, decision: Found, key: str) -> PullRequestFound:
    """Hand the run to whoever comments and follows."""
    pull = decision.pull
    return PullRequestFound(
        run_id=RunId(state["run_id"]),
        alert=state["alert"],
        hypothesis=state["hypothesis"],
        found=decision.found,
        repo=state["target"].repo,
        number=pull.number,
        url=pull.url,
        head_branch=pull.head_branch,
        commit=pull.commit,
        title=line(pull.title),
        issue_key=key,
        why=decision.why,
    )
