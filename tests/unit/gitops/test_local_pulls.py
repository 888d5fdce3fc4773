"""Local pull requests after they were opened: more commits, comments, and what became of them."""

import asyncio
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tocsin_gitops import pulls
from tocsin_gitops.config import Repository
from tocsin_gitops.forges import BranchTaken, LocalGitForge, PullRequestRequest
from tocsin_gitops.pulls import Comment
from tocsin_gitops.source import LocalGitSource
from tocsin_kit.errors import PermanentError
from tocsin_testing.forges.loose import loose

BRANCH = "tocsin/raise-memory-0123456789"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MERGED_AT = datetime(2026, 3, 2, 8, tzinfo=UTC)
TEAM = {
    "PATH": "/usr/bin:/bin",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    **{f"GIT_{who}_NAME": "payments-team" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "payments@acme.example" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_DATE": MERGED_AT.isoformat() for who in ("AUTHOR", "COMMITTER")},
}
SOURCE = LocalGitSource()


def git(repository: Repository, *args: str, stdin: str = "") -> str:
    command = ["git", f"--git-dir={repository.git_dir}", *args]
    done = subprocess.run(
        command, env=TEAM, check=True, capture_output=True, text=True, input=stdin
    )
    return done.stdout.strip()


def commit(repository: Repository, branch: str, message: str, *, tree: str, parents=()) -> str:
    named = [word for parent in parents for word in ("-p", parent)]
    made = git(repository, "commit-tree", tree, *named, "-m", message)
    git(repository, "update-ref", f"refs/heads/{branch}", made)
    return made


def placed(folder: Path) -> Repository:
    return Repository(name="shop/platform", git_dir=folder / "platform.git", paths=("**",))


class Pulls:
    """One pull request of a test, and the forge that writes it."""

    def __init__(self, repository: Repository) -> None:
        self.repository, self.forge = repository, LocalGitForge(now=lambda: NOW)

    async def open(self, **changes):
        self.request = PullRequestRequest(
            repository=self.repository,
            base_branch="main",
            parent_sha=await SOURCE.head(self.repository),
            head_branch=BRANCH,
            title="Raise the memory",
            body="It was killed.\n",
            files={"a.yaml": b"memory: 256Mi\n"},
        )
        self.request = replace(self.request, **changes)
        self.opened = await self.forge.open_pull(self.request)
        return self.opened

    def more(self, **changes) -> PullRequestRequest:
        fields = {
            "parent_sha": self.opened.commit,
            "title": "Raise the memory again",
            "body": "It was killed twice.\n",
            "files": {"a.yaml": b"memory: 512Mi\n"},
        }
        return replace(self.request, **(fields | changes))

    @property
    def record(self) -> Path:
        return pulls.record(self.repository, BRANCH)


@pytest.fixture(scope="module")
def origin(tmp_path_factory) -> tuple[Path, Pulls]:
    """A repository with one open pull request, and the folder that it and its record are in."""
    folder = tmp_path_factory.mktemp("origin")
    loose(folder / "platform.git").push("main", {"a.yaml": b"memory: 128Mi\n"})
    made = Pulls(placed(folder))
    asyncio.run(made.open())
    return folder, made


@pytest.fixture
def pull(origin, tmp_path):
    folder, first = origin
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    made = Pulls(placed(tmp_path))
    made.request, made.opened = replace(first.request, repository=made.repository), first.opened
    return made


async def test_a_second_commit_goes_on_the_branch_and_the_record_tells_of_it(pull):
    changed = await pull.forge.add_commit(pull.more(), 1)
    assert git(pull.repository, "rev-parse", BRANCH) == changed.commit
    assert git(pull.repository, "rev-parse", f"{BRANCH}^") == pull.opened.commit
    assert git(pull.repository, "show", f"{BRANCH}:a.yaml") == "memory: 512Mi"
    assert (changed.number, changed.title) == (1, "Raise the memory again")
    assert await SOURCE.pulls(pull.repository, BRANCH) == (changed,)


async def test_the_same_commit_again_is_the_same_commit(pull):
    done = await asyncio.gather(*(pull.forge.add_commit(pull.more(), 1) for _ in range(4)))
    assert len({one.commit for one in done}) == 1
    assert git(pull.repository, "rev-list", "--count", f"main..{BRANCH}") == "2"


async def test_a_crash_between_commit_and_record_heals_with_the_next_try(pull):
    before = pull.record.read_bytes()
    first = await pull.forge.add_commit(pull.more(), 1)
    pull.record.write_bytes(before)
    assert await pull.forge.add_commit(pull.more(), 1) == first


async def test_opening_again_after_more_commits_is_still_the_same_pull_request(pull):
    changed = await pull.forge.add_commit(pull.more(), 1)
    assert await pull.forge.open_pull(pull.request) == changed


async def test_nothing_is_added_to_a_branch_that_somebody_moved(pull):
    theirs = commit(
        pull.repository, BRANCH, "Mine", tree=f"{BRANCH}^{{tree}}", parents=(pull.opened.commit,)
    )
    with pytest.raises(BranchTaken) as refused:
        await pull.forge.add_commit(pull.more(), 1)
    assert (refused.value.branch, refused.value.commit) == (BRANCH, theirs)
    assert git(pull.repository, "rev-parse", BRANCH) == theirs
    (seen,) = await SOURCE.pulls(pull.repository, BRANCH)
    assert (seen.commit, seen.state) == (theirs, "open")


async def test_nothing_is_added_to_what_is_merged_or_closed(pull):
    git(pull.repository, "update-ref", "refs/heads/main", BRANCH)
    with pytest.raises(PermanentError, match="merged"):
        await pull.forge.add_commit(pull.more(), 1)
    assert git(pull.repository, "rev-parse", BRANCH) == pull.opened.commit


async def test_nothing_is_added_to_a_branch_that_is_gone(pull):
    git(pull.repository, "update-ref", "-d", f"refs/heads/{BRANCH}")
    with pytest.raises(PermanentError, match="closed"):
        await pull.forge.add_commit(pull.more(), 1)
    assert await SOURCE.branch(pull.repository, BRANCH) is None


async def test_a_commit_for_a_pull_request_of_another_branch_is_refused(pull):
    with pytest.raises(PermanentError, match="is not from"):
        await pull.forge.add_commit(pull.more(head_branch="tocsin/other"), 1)
    with pytest.raises(PermanentError, match="no pull request 7"):
        await pull.forge.add_commit(pull.more(), 7)


@pytest.mark.parametrize("branch", ["main", "release", "tocsin-x"])
async def test_no_branch_but_ours_is_ever_written(pull, branch):
    before = git(pull.repository, "for-each-ref")
    for write in (pull.forge.open_pull, lambda request: pull.forge.add_commit(request, 1)):
        with pytest.raises(PermanentError, match="none of ours"):
            await write(pull.more(head_branch=branch))
    assert git(pull.repository, "for-each-ref") == before


async def test_nothing_is_added_to_a_pull_request_that_goes_elsewhere_by_now(pull):
    told = pull.opened.model_copy(update={"base_branch": "release"})
    pull.record.write_text(told.model_dump_json())
    with pytest.raises(PermanentError, match="goes to 'release'"):
        await pull.forge.add_commit(pull.more(), 1)
    assert git(pull.repository, "rev-parse", BRANCH) == pull.opened.commit


async def test_a_commit_that_was_added_and_merged_is_told_though_the_record_is_old(pull):
    """We stopped before the record was written, and a person was fast."""
    before = pull.record.read_bytes()
    added = await pull.forge.add_commit(pull.more(), 1)
    pull.record.write_bytes(before)
    git(pull.repository, "update-ref", "refs/heads/main", BRANCH)
    git(pull.repository, "update-ref", "-d", f"refs/heads/{BRANCH}")
    again = await pull.forge.add_commit(pull.more(), 1)
    assert (again.commit, again.state, again.title) == (added.commit, "merged", added.title)


async def test_a_comment_is_made_once_for_each_marker(pull):
    async def say(marker):
        return await pull.forge.comment(pull.repository, 1, "It fires again.", marker)

    said = await asyncio.gather(*(say("episode-1") for _ in range(4)), say("episode-2"))
    assert len(set(said)) == 2
    found = await SOURCE.comments(pull.repository, 1, NOW)
    assert sorted(found, key=lambda one: one.id) == sorted(set(said), key=lambda one: one.id)
    assert {one.id for one in found} == {"1", "2"}
    assert all(one.body.startswith("It fires again.\n") for one in found)


async def test_a_marker_that_somebody_else_wrote_counts_for_nothing(pull):
    theirs = Comment(id="1", author="eve", body="<!-- episode-1 -->", at=NOW)
    pulls.comments_file(pull.record).write_text(theirs.model_dump_json() + "\n")
    ours = await pull.forge.comment(pull.repository, 1, "It fires again.", "episode-1")
    assert await SOURCE.comments(pull.repository, 1, NOW) == (theirs, ours)
    assert await SOURCE.comments(pull.repository, 1, NOW + timedelta(seconds=1)) == ()


async def test_a_line_that_is_no_comment_is_named(pull):
    pulls.comments_file(pull.record).write_text("{}\n")
    with pytest.raises(PermanentError, match="line 1 is no comment"):
        await SOURCE.comments(pull.repository, 1, NOW)


async def test_a_merge_tells_when_and_as_what(pull):
    tree, first = "main^{tree}", git(pull.repository, "rev-parse", "main")
    moved = commit(pull.repository, "main", "Before", tree=tree, parents=(first,))
    merged = commit(
        pull.repository, "main", "Merge", tree=f"{BRANCH}^{{tree}}", parents=(moved, BRANCH)
    )
    commit(pull.repository, "main", "After", tree="main^{tree}", parents=(merged,))
    (seen,) = await SOURCE.pulls(pull.repository, BRANCH)
    assert (seen.state, seen.merged_commit, seen.ended_at) == ("merged", merged, MERGED_AT)
    assert await SOURCE.touched(pull.repository, 1) == ("a.yaml",)


async def test_a_base_that_was_moved_forward_tells_as_what_but_not_when(pull):
    git(pull.repository, "update-ref", "refs/heads/main", BRANCH)
    commit(pull.repository, "main", "After", tree="main^{tree}", parents=(pull.opened.commit,))
    (seen,) = await SOURCE.pulls(pull.repository, BRANCH)
    assert (seen.state, seen.ended_at) == ("merged", None)
    assert seen.merged_commit == pull.opened.commit
    assert await SOURCE.touched(pull.repository, 1) == ("a.yaml",)


async def test_open_pull_requests_are_listed_with_what_they_touch(pull):
    other = Pulls(pull.repository)
    await other.open(head_branch="tocsin/other", files={"b.md": b"# b\n"})
    await Pulls(pull.repository).open(head_branch="tocsin/gone", files={"c.md": b"# c\n"})
    git(pull.repository, "update-ref", "-d", "refs/heads/tocsin/gone")
    found = await SOURCE.open_pulls(pull.repository)
    assert [one.head_branch for one in found] == ["tocsin/other", BRANCH]
    touched = [await SOURCE.touched(pull.repository, one.number) for one in found]
    assert touched == [("b.md",), ("a.yaml",)]
    release = pull.repository.model_copy(update={"branch": "release"})
    assert await SOURCE.open_pulls(release) == ()
