"""What is written to a forge, and everything that keeps it from being written."""

import asyncio

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tocsin_cli.demo import history
from tocsin_cli.demo.git import git
from tocsin_contracts import (
    ApprovalRequested,
    EditOp,
    EndReason,
    Intent,
    PlanStale,
    PullRequestOpened,
    PullRequestUpdated,
    RunFinished,
    RunState,
)
from tocsin_contracts.views import ApprovalState
from tocsin_gitops import editing, hashing
from tocsin_gitops.forges import LocalGitForge
from tocsin_gitops.source import LocalGitSource
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_testing import build


async def refused(desk, granted) -> PlanStale:
    """Nothing is asked of the forge, and the plan goes back with the reason."""
    answer = await desk.handlers().on_approval_granted(granted)
    assert isinstance(answer, PlanStale)
    assert answer.why
    assert desk.forge.asked == []
    assert desk.pulls == []
    return answer


async def test_an_approved_plan_becomes_the_pull_request_that_was_shown(desk):
    plan = desk.plan()
    opened = await desk.handlers().on_approval_granted(await desk.approved(plan))
    assert isinstance(opened, PullRequestOpened)
    (pull,), (asked,) = desk.pulls, desk.forge.asked
    assert (opened.url, opened.commit, opened.plan_hash) == (pull.url, pull.commit, plan.plan_hash)
    assert asked.files == {desk.file: desk.manifest.replace(b"128Mi", b"256Mi")}
    assert (asked.parent_sha, asked.head_branch) == (plan.parent_sha, plan.head_branch)
    assert (asked.title, asked.body) == (plan.title, plan.body)
    assert asked.base_branch == "main"


ADDED = (*build.edit().path[:-2], "requests", "cpu")


async def test_a_field_that_is_added_is_written_as_it_was_shown(desk):
    plan = desk.plan(edit=build.edit(op=EditOp.INSERT, path=ADDED, old=None, new="100m"))
    opened = await desk.handlers().on_approval_granted(await desk.approved(plan))
    assert isinstance(opened, PullRequestOpened)
    added = b"            requests:\n              cpu: 100m\n"
    assert desk.forge.asked[0].files == {desk.file: desk.manifest + added}


async def test_a_field_that_no_rule_lets_in_is_not_written(desk):
    path = (*ADDED[:-3], "securityContext", "privileged")
    plan = desk.plan(edit=build.edit(op=EditOp.INSERT, path=path, old=None, new=True))
    answer = await refused(desk, await desk.approved(plan))
    assert "may change by insert" in answer.why


@pytest.mark.parametrize("checkpoint", ["kept", "lost"])
async def test_p3_without_a_record_nothing_is_written(desk, checkpoint):
    granted = await desk.approved()
    desk.approvals.approvals.clear()
    if checkpoint == "lost":
        desk.saver = InMemorySaver()
    await refused(desk, granted)


@pytest.mark.parametrize("state", [s for s in ApprovalState if s is not ApprovalState.GRANTED])
async def test_p3_the_record_decides_and_not_the_event(desk, state):
    plan = desk.plan()
    granted = await desk.approved(plan)
    desk.record(plan, state)
    assert state.value in (await refused(desk, granted)).why


async def test_p3_the_record_of_another_plan_is_no_approval_of_this_one(desk):
    plan = desk.plan()
    granted = await desk.approved(plan)
    desk.record(plan, plan_hash=f"{plan.plan_hash[:12]}{'0' * 52}")
    await refused(desk, granted)


async def test_p3_a_yes_to_a_plan_that_was_replaced_is_refused(desk):
    """One approval must not be reused for a change that nobody looked at."""
    granted = await desk.approved(desk.plan())
    other = build.plan_drafted(plan=desk.plan("512Mi"))
    desk.stands(RunState.AWAITING_APPROVAL, other)
    answer = await refused(desk, granted)
    assert answer.plan_hash == other.plan.plan_hash
    assert granted.decision.plan_hash[:12] in answer.why


async def test_p3_a_yes_without_any_plan_is_refused(desk):
    granted = await desk.approved(desk.plan())
    desk.stands(RunState.AWAITING_APPROVAL)
    with pytest.raises(PermanentError, match="has no plan"):
        await desk.handlers().on_approval_granted(granted)
    assert desk.forge.asked == []


@pytest.mark.parametrize(
    "changes",
    [
        {"head_branch": "release/next"},
        {"head_branch": "tocsin/payments-api-0123456789"},
        {"parent_sha": "f" * 40},
        {"title": "payments-api: memory\nCo-authored-by: nobody"},
    ],
    ids=["foreign branch", "branch of another issue", "other parent", "title of two lines"],
)
async def test_p9_a_plan_that_no_check_of_ours_drafted_is_not_written(desk, changes):
    forged = desk.plan(**changes)
    await refused(desk, await desk.approved(forged))


async def test_p3_a_yes_for_a_run_without_a_plan_is_refused(desk):
    desk.stands(RunState.AWAITING_APPROVAL, build.incident_opened())
    with pytest.raises(PermanentError):
        await desk.handlers().on_approval_granted(build.approval_granted())
    assert desk.forge.asked == []


TAMPERED = {
    "edit": {"edits": (build.edit(new="512Mi"),)},
    "another-file": {"edits": (build.edit(file="README.md"),)},
    "one-edit-more": {"edits": (build.edit(), build.edit(file="apps/b.yaml"))},
    "title": {"title": "Nothing to see"},
    "body": {"body": "Nothing to see\n"},
    "branch": {"head_branch": "main"},
    "base-branch": {"target": build.target(base_branch="release")},
    "repository": {"target": build.target(repo="shop/other")},
    "parent": {"parent_sha": "9" * 40},
    "bytes": {"files": (build.file_change(sha256_after="9" * 64),)},
    "policy": {"policy_version": "p9"},
    "diff": {"diff": "--- a/x\n+++ b/x\n"},
}


@pytest.mark.parametrize("changes", TAMPERED.values(), ids=TAMPERED)
async def test_p3_a_plan_that_was_tampered_with_after_the_yes_is_never_written(desk, changes):
    granted = await desk.approved()
    drafted = build.plan_drafted(plan=desk.plan().model_copy(update=changes))
    desk.stands(RunState.AWAITING_APPROVAL, drafted)
    desk.saver = InMemorySaver()
    await refused(desk, granted)


async def test_p9_an_approved_plan_outside_of_the_policy_is_never_written(desk):
    granted = await desk.approved(desk.plan("1280Mi"))
    assert "not within 4 times" in (await refused(desk, granted)).why


async def test_p3_a_base_that_moved_in_a_touched_file_needs_a_new_plan(desk):
    granted = await desk.approved()
    desk.commit({desk.file: desk.manifest + b"# moved\n"})
    stale = await refused(desk, granted)
    assert desk.file in stale.why
    assert stale.plan_hash == granted.decision.plan_hash


async def test_a_base_that_moved_elsewhere_changes_nothing(desk):
    granted = await desk.approved()
    desk.commit({"README.md": b"other\n", "apps/web.yaml": b"a: 1\n"})
    opened = await desk.handlers().on_approval_granted(granted)
    assert isinstance(opened, PullRequestOpened)


async def test_p3_a_policy_that_changed_since_needs_a_new_plan(desk):
    granted = await desk.approved()
    desk.allow(max_files=1)
    assert "policy has changed" in (await refused(desk, granted)).why


async def test_p3_bytes_that_come_out_differently_are_never_written(desk):
    other = desk.plan().files[0].model_copy(update={"sha256_after": "9" * 64})
    granted = await desk.approved(desk.plan(files=(other,)))
    assert "not the bytes" in (await refused(desk, granted)).why


async def test_p3_an_edit_that_no_longer_applies_is_never_written(desk):
    granted = await desk.approved(desk.plan(edits=(build.edit(old="64Mi"),)))
    assert "no longer applies" in (await refused(desk, granted)).why


async def test_a_branch_that_holds_something_else_is_left_alone(desk):
    granted = await desk.approved()
    theirs = desk.repositories.open(desk.repo, desk.plan().head_branch)
    answer = await desk.handlers().on_approval_granted(granted)
    assert isinstance(answer, RunFinished)
    assert (answer.outcome, answer.reason) == (RunState.ESCALATED, EndReason.BRANCH_TAKEN)
    assert answer.sentence.startswith("Nothing was written: ")
    assert desk.pulls == [theirs]


async def test_p2_granted_twice_is_one_pull_request(desk):
    granted = await desk.approved()
    first = await desk.handlers().on_approval_granted(granted)
    again = await desk.handlers().on_approval_granted(granted)
    assert again.url == first.url
    assert len(desk.forge.asked) == len(desk.pulls) == 1


async def test_p5_a_lost_checkpoint_still_leads_to_one_pull_request(desk):
    granted = await desk.approved()
    desk.saver = InMemorySaver()
    first = await desk.handlers().on_approval_granted(granted)
    desk.saver = InMemorySaver()
    again = await desk.handlers().on_approval_granted(granted)
    assert again.url == first.url
    assert len(desk.forge.asked) == 2
    assert len(desk.pulls) == 1


class Lagging:
    """A forge whose list of pull requests is behind by some looks."""

    def __init__(self, repositories, looks):
        self._repositories, self._looks = repositories, looks

    def __getattr__(self, name):
        return getattr(self._repositories, name)

    async def pulls(self, repo, head_branch):
        self._looks -= 1
        return () if self._looks >= 0 else await self._repositories.pulls(repo, head_branch)


async def test_a_pull_request_is_told_of_once_it_is_seen_and_opened_only_once(desk):
    granted = await desk.approved()
    desk.source = Lagging(desk.repositories, 2)
    handlers = desk.handlers()
    for _ in range(2):
        with pytest.raises(TransientError, match="not to be seen yet"):
            await handlers.on_approval_granted(granted)
    assert isinstance(await handlers.on_approval_granted(granted), PullRequestOpened)
    assert len(desk.forge.asked) == 1


async def test_a_forged_yes_does_not_use_up_the_true_one(desk):
    asked = await desk.ask()
    await refused(
        desk, build.approval_granted(decision=build.decision(plan_hash=asked.plan.plan_hash))
    )
    again = await desk.ask(id="a" * 32)
    assert isinstance(again, ApprovalRequested)
    opened = await desk.handlers().on_approval_granted(await desk.say(again))
    assert isinstance(opened, PullRequestOpened)


async def test_p4_a_plan_that_was_approved_and_could_not_be_carried_out_is_not_asked_again(desk):
    granted = await desk.approved()
    allowed = desk.gitops
    desk.allow(max_files=1)
    await refused(desk, granted)
    desk.gitops = allowed
    answer = await desk.ask(id="a" * 32)
    assert isinstance(answer, RunFinished)
    assert answer.outcome is RunState.ESCALATED
    assert "granted" in answer.sentence
    assert desk.forge.asked == []


@pytest.fixture
def real(desk, tmp_path):
    """The same desk on a bare repository."""
    git_dir = tmp_path / "platform.git"
    files = {desk.file: desk.manifest}
    history.build(git_dir, [history.Commit("payments-team", build.NOW, "Import", files)])
    desk.base = git(git_dir, "rev-parse", "main").strip()
    desk.allow(git_dir)
    desk.source, desk.forge = LocalGitSource(), LocalGitForge(desk.clock.now)
    return desk, git_dir


def branches(git_dir):
    return git(git_dir, "for-each-ref", "--format=%(refname:short) %(objectname)").splitlines()


async def test_on_real_git_the_approved_bytes_are_one_commit_on_one_branch(real):
    desk, git_dir = real
    plan = desk.plan()
    granted = await desk.approved(plan)
    assert branches(git_dir) == [f"main {desk.base}"]
    opened = await desk.handlers().on_approval_granted(granted)
    desk.saver = InMemorySaver()
    assert (await desk.handlers().on_approval_granted(granted)).commit == opened.commit
    assert branches(git_dir) == [f"main {desk.base}", f"{plan.head_branch} {opened.commit}"]
    assert git(git_dir, "diff", f"main..{plan.head_branch}", "--").count("\n-") == 2
    assert git(git_dir, "show", f"{plan.head_branch}:{desk.file}").count("256Mi") == 1
    assert f"Tocsin-Plan: {plan.plan_hash}" in git(
        git_dir, "log", "-1", "--format=%B", opened.commit
    )
    assert len(list(git_dir.with_name("platform.pulls").glob("*.json"))) == 1


async def test_on_real_git_a_branch_of_somebody_else_is_not_moved(real):
    desk, git_dir = real
    granted = await desk.approved()
    git(git_dir, "update-ref", f"refs/heads/{desk.plan().head_branch}", desk.base)
    before = branches(git_dir)
    answer = await desk.handlers().on_approval_granted(granted)
    assert answer.reason is EndReason.BRANCH_TAKEN
    assert branches(git_dir) == before
    assert not git_dir.with_name("platform.pulls").exists()


async def test_p3_on_real_git_a_tampered_plan_leaves_no_branch(real):
    desk, git_dir = real
    granted = await desk.approved()
    plan = desk.plan().model_copy(update={"edits": (build.edit(new="512Mi"),)})
    desk.stands(RunState.AWAITING_APPROVAL, build.plan_drafted(plan=plan))
    desk.saver = InMemorySaver()
    assert isinstance(await desk.handlers().on_approval_granted(granted), PlanStale)
    assert branches(git_dir) == [f"main {desk.base}"]


async def test_p2_on_real_git_an_increment_is_one_commit_on_top_and_one_comment_is_said(real):
    desk, git_dir = real
    first = desk.plan()
    opened = await desk.handlers().on_approval_granted(await desk.approved(first))
    await desk.issues.remember([opened])
    held = desk.manifest.replace(b"128Mi", b"256Mi")
    edit = build.edit(old="256Mi", new="384Mi")
    after = held.replace(b"256Mi", b"384Mi")
    file = build.file_change(sha256_before=hashing.sha256(held), sha256_after=hashing.sha256(after))
    second = desk.plan(
        edit=build.edit(new="384Mi"),
        edits=(edit,),
        files=(file,),
        diff=editing.unified_diff({desk.file: held}, {desk.file: after}),
        parent_sha=opened.commit,
        intent=Intent.INCREMENT,
    )
    granted = await desk.say(await desk.ask(second, id="b" * 32))
    updated = await desk.handlers().on_approval_granted(granted)
    assert isinstance(updated, PullRequestUpdated)
    desk.saver = InMemorySaver()
    assert (await desk.handlers().on_approval_granted(granted)).commit == updated.commit
    history = git(git_dir, "log", "--format=%H", f"{desk.base}..{second.head_branch}").split()
    assert history == [updated.commit, opened.commit]
    assert git(git_dir, "show", f"{updated.commit}:{desk.file}").encode() == after
    found = build.pull_request_found(
        run_id="r2", url=opened.url, number=updated.number, issue_key=second.issue_key
    )
    for _ in range(2):
        (said,) = await desk.following().on_pull_request_found(found)
    repository = desk.gitops.repository(desk.repo)
    (comment,) = await LocalGitSource().comments(repository, updated.number, build.NOW)
    assert comment.id == said.comment


async def test_p2_two_workers_that_write_at_once_make_one_commit_and_one_pull_request(real):
    """A lease that ran out while its holder waited for the forge: both go on."""
    desk, git_dir = real
    granted = await desk.approved()
    workers = []
    for _ in range(3):
        desk.saver = InMemorySaver()
        workers.append(desk.handlers().on_approval_granted(granted))
    told = await asyncio.gather(*workers)
    assert len({(one.url, one.commit) for one in told}) == 1
    branch = desk.plan().head_branch
    assert branches(git_dir) == [f"main {desk.base}", f"{branch} {told[0].commit}"]
    assert len(list(git_dir.with_name("platform.pulls").glob("*.json"))) == 1


async def test_p4_a_pull_request_that_is_never_seen_is_told_of_after_an_hour_and_followed(desk):
    granted = await desk.approved()
    desk.source = Lagging(desk.repositories, 99)
    with pytest.raises(TransientError, match="not to be seen yet"):
        await desk.handlers().on_approval_granted(granted)
    desk.clock.advance(3600)
    opened = await desk.handlers().on_approval_granted(granted)
    assert isinstance(opened, PullRequestOpened)
    (pull,) = desk.pulls
    assert (opened.url, opened.commit, opened.number) == (pull.url, pull.commit, 0)
    assert len(desk.forge.asked) == 1
