"""Draft the exact undo of a fix that did not help, on the base as it is now."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tocsin_contracts import (
    CheckResult,
    CheckVerdict,
    Edit,
    EndReason,
    Event,
    FixIneffective,
    Hypothesis,
    Intent,
    Plan,
    PlanDrafted,
)
from tocsin_gitops import editing, hashing, past, undoing
from tocsin_gitops.carrying import carried, inverse
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.editing import EditRefused
from tocsin_kit.clock import Clock
from tocsin_kit.errors import TransientError
from tocsin_validation import converging, drafting, endings
from tocsin_validation.checks.policy import PolicyAllows
from tocsin_validation.converging import Decision, Open, Refused, Stop, Wait
from tocsin_validation.outlook import preview, risk
from tocsin_validation.ports import Proposed, Source
from tocsin_validation.standing import Desk


class Undoing:
    """Proposes undos. Each is a plan of its own, with a branch and an approval of its own."""

    def __init__(
        self,
        gitops: GitOps,
        source: Source,
        desk: Desk,
        clock: Clock,
        rules: converging.Rules,
        *,
        console: str = "",
    ) -> None:
        self._gitops = gitops
        self._source = source
        self._desk = desk
        self._clock = clock
        self._rules = rules
        self._console = console

    async def propose(self, event: FixIneffective) -> Sequence[Event]:
        """Return the plan of the undo, or hand over with why there is none."""
        repository = self._gitops.repository(event.plan.target.repo)
        base_sha = await self._source.head(repository)
        try:
            change = await self._change(event, repository, base_sha)
        except EditRefused as refused:
            return _by_hand(event, str(refused))
        key, edits = change.issue_key, change.edits
        if rival := await self._desk.rival(event.run_id, repository.name, key, edits):
            return _by_hand(event, f"run {rival.run_id} has a plan of its own for {rival.thing}")
        standing = await self._desk.standing(repository, key, change.head_branch, edits)
        decision = converging.decide(standing, self._rules, self._clock.now())
        if isinstance(decision, Wait):
            raise TransientError(f"{key!r}: {decision.why}", retry_in=decision.seconds)
        if not isinstance(decision, Open):
            return _by_hand(event, _why_none(decision))
        on_branch = replace(change, head_branch=decision.branch)
        return _planned(event, on_branch, base_sha, self._console)

    async def _change(
        self, event: FixIneffective, repository: Repository, base_sha: str
    ) -> Proposed:
        """The undo on the base as it is; EditRefused where it would not be exact."""
        plan = event.plan
        backwards = await self._backwards(repository, plan)
        files = await self._source.files(repository, base_sha)
        touched = {one.path: files[one.path] for one in plan.files if one.path in files}
        before = {path: file.data for path, file in touched.items()}
        if carried(backwards, before) != backwards:
            raise EditRefused("the base does not hold it as it was merged")
        edits = await self._proven(event, repository, base_sha, backwards)
        key = hashing.undo_key(plan.issue_key)
        return Proposed(
            alert=event.alert,
            hypothesis=event.hypothesis,
            target=plan.target.model_copy(update={"trace": (f"it is the file of {event.url}",)}),
            edits=edits,
            before=before,
            after=editing.apply(before, edits),
            modes={path: file.mode for path, file in touched.items()},
            policy=self._gitops.policy,
            issue_key=key,
            head_branch=hashing.head_branch(key, f"undo-{event.hypothesis.finding.object.name}"),
            past=await past.steps(self._source, repository, base_sha, edits),
        )

    async def _backwards(self, repository: Repository, plan: Plan) -> tuple[Edit, ...]:
        """The inverse of the plan, if it brings back every byte that the plan changed."""
        if plan.intent is not Intent.OPEN:
            raise EditRefused("it was made in more than one commit")
        backwards = inverse(plan.edits)
        files = await self._source.files(repository, plan.base_sha)
        was = {one.path: files[one.path].data for one in plan.files if one.path in files}
        if editing.apply(editing.apply(was, plan.edits), backwards) != was:
            raise EditRefused("its inverse would not bring back the bytes that were there")
        return backwards

    async def _proven(
        self,
        event: FixIneffective,
        repository: Repository,
        base_sha: str,
        edits: Iterable[Edit],
    ) -> tuple[Edit, ...]:
        """Each edit with the commit that it undoes, where the base's history shows that it does."""
        found = []
        for edit in edits:
            named = [edit.model_copy(update={"undo_of": one}) for one in event.commits if one]
            steps = await past.steps(self._source, repository, base_sha, named)
            found.append(next((one for one in named if not undoing.fault(one, steps)), edit))
        return tuple(found)


def _planned(event: FixIneffective, change: Proposed, base_sha: str, console: str) -> list[Event]:
    allowed = PolicyAllows().run(change)
    if allowed.verdict is CheckVerdict.FAIL:
        return _by_hand(event, allowed.detail)
    hypothesis = _turned(event)
    change = replace(change, hypothesis=hypothesis)
    judged = risk.judged(change, _checks(event, allowed))
    words = drafting.Words(f"Undo: {event.plan.title}", _why(event), console)
    plan = drafting.plan(event.run_id, change, judged, base_sha, words=words)
    return [PlanDrafted(run_id=event.run_id, alert=event.alert, hypothesis=hypothesis, plan=plan)]


def _turned(event: FixIneffective) -> Hypothesis:
    """What people are asked about: not why the fix was made, but that it did not help."""
    turned = preview.backwards(event.hypothesis.finding)
    because = {"summary": " ".join(_why(event)), "because": "", "considered": (), "confidence": 1.0}
    finding = turned.model_copy(update=because)
    told = {"finding": finding, "alternatives": (), "claims": (), "disproof": ""}
    return event.hypothesis.model_copy(update=told)


def _checks(event: FixIneffective, allowed: CheckResult) -> list[CheckResult]:
    told = {
        "fix-is-ineffective": event.why,
        "undo-is-exact": "the bytes that the fix changed are again those from before it",
    }
    passed = (
        CheckResult(check=check, verdict=CheckVerdict.PASS, detail=detail)
        for check, detail in told.items()
    )
    return [*passed, allowed]


def _why(event: FixIneffective) -> tuple[str, ...]:
    return (
        f"{event.url} was merged at {event.merged_at:%Y-%m-%d %H:%M} UTC, and {event.why}.",
        "This is its exact undo on the base as it is now.",
    )


def _why_none(decision: Decision) -> str:
    match decision:
        case Stop():
            return decision.sentence.rstrip(".")
        case Refused():
            return "a person said no to it before"
    return "an undo was proposed before"


def _by_hand(event: FixIneffective, why: str) -> list[Event]:
    sentence = f"{event.url} was merged and {event.why}. No undo is proposed: {why}."
    return endings.escalated(
        event.run_id,
        event.alert,
        EndReason.FIX_INEFFECTIVE,
        sentence,
        seen=[event.hypothesis.finding.summary, event.plan.title],
    )
