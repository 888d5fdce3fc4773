import asyncio
import json
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tocsin_gitops import pulls
from tocsin_gitops.config import Repository
from tocsin_gitops.forges import BranchTaken, LocalGitForge, PullRequestRequest
from tocsin_gitops.git import Git, GitFailed
from tocsin_gitops.pulls import PullRequest
from tocsin_gitops.source import MAX_BYTES, LocalGitSource
from tocsin_kit.errors import PermanentError, TransientError

BRANCH = "tocsin/raise-memory-0123456789"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEAM = {
    "PATH": "/usr/bin:/bin",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "payments-team",
    "GIT_AUTHOR_EMAIL": "payments@acme.example",
    "GIT_COMMITTER_NAME": "payments-team",
    "GIT_COMMITTER_EMAIL": "payments@acme.example",
}


def git(folder: Path, *args: str, date: str = "2026-01-05T10:00:00Z") -> str:
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    done = subprocess.run(
        ["git", *args], cwd=folder, env=TEAM | dates, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def origin(tmp_path_factory) -> Path:
    """A bare repository with three commits, an executable, a symlink and odd names."""
    root = tmp_path_factory.mktemp("origin")
    work = root / "work"
    work.mkdir()
    git(work, "init", "-q", "-b", "main")
    (work / "apps/api").mkdir(parents=True)
    (work / "apps/api/a.yaml").write_text("memory: 256Mi\n")
    (work / "apps/api/grüße ö.yaml").write_text("a: 1\n")
    (work / "run.yaml").write_text("a: 1\n")
    (work / "run.yaml").chmod(0o755)
    (work / "link.yaml").symlink_to("run.yaml")
    (work / "apps/api/_names.tpl").write_text("{{ define }}\n")
    (work / "logo.png").write_bytes(b"\0")
    (work / "huge.yaml").write_bytes(b"#" * (MAX_BYTES + 1))
    git(work, "add", ".")
    git(work, "commit", "-qm", "Import the api")
    (work / "apps/api/a.yaml").write_text("memory: 192Mi\n")
    git(work, "commit", "-qam", "Trim memory\x01/odd\n\nbody", date="2026-01-06T10:00:00+02:00")
    git(work, "commit", "-q", "--allow-empty", "-m", "Nothing")
    git(root, "clone", "-q", "--bare", "--template=", "work", "platform.git")
    git(root / "platform.git", "gc", "-q")  # few files are few to copy for each test
    return root / "platform.git"


@pytest.fixture
def repository(origin, tmp_path) -> Repository:
    shutil.copytree(origin, tmp_path / "platform.git")
    return Repository(name="shop/platform", git_dir=tmp_path / "platform.git", paths=("**",))


async def request_for(repository: Repository, **fields) -> PullRequestRequest:
    request = PullRequestRequest(
        repository=repository,
        base_branch="main",
        parent_sha=await LocalGitSource().head(repository),
        head_branch=BRANCH,
        title="Raise the memory of payments-api",
        body="Because it was killed.\n\nTocsin-Plan: abc\n",
        files={"apps/api/a.yaml": b"memory: 512Mi\n", "run.yaml": b"a: 2\n", "new/b.md": b"# b\n"},
    )
    return replace(request, **fields)


def forge() -> LocalGitForge:
    return LocalGitForge(now=lambda: NOW)


def branches(repository: Repository) -> list[str]:
    pattern = "refs/heads/tocsin"
    return git(repository.git_dir, "for-each-ref", "--format=%(refname:short)", pattern).split()


async def find_pull(repository: Repository, branch: str) -> PullRequest | None:
    return next(iter(await LocalGitSource().pulls(repository, branch)), None)


def records(repository: Repository) -> list[Path]:
    return sorted(pulls.folder(repository).glob("*.json"))


async def test_the_head_of_the_branch_is_read(repository):
    head = await LocalGitSource().head(repository)
    assert head == git(repository.git_dir, "rev-parse", "main")
    with pytest.raises(PermanentError, match="none"):
        await LocalGitSource().head(repository.model_copy(update={"branch": "none"}))


async def test_text_files_come_with_their_bytes_and_modes(repository):
    source = LocalGitSource()
    files = await source.files(repository, await source.head(repository))
    assert {path: file.mode for path, file in files.items()} == {
        "apps/api/_names.tpl": "100644",
        "apps/api/a.yaml": "100644",
        "apps/api/grüße ö.yaml": "100644",
        "link.yaml": "120000",
        "run.yaml": "100755",
    }
    assert files["apps/api/a.yaml"].data == b"memory: 192Mi\n"


async def test_history_says_who_changed_what_and_when(repository):
    source = LocalGitSource()
    head = await source.head(repository)
    newest, trim, first = await source.commits(repository, head)
    assert (newest.subject, newest.files, newest.parent) == ("Nothing", (), trim.sha)
    assert (trim.subject, trim.author) == ("Trim memory\x01/odd", "payments-team")
    assert trim.at == datetime(2026, 1, 6, 8, tzinfo=UTC)
    assert trim.files == ("apps/api/a.yaml",)
    assert first.parent == ""
    assert "apps/api/grüße ö.yaml" in first.files


async def test_history_of_one_path_leaves_the_rest_out(repository):
    source = LocalGitSource()
    head = await source.head(repository)
    found = await source.commits(repository, head, "apps/api/a.yaml")
    assert [commit.subject for commit in found] == ["Trim memory\x01/odd", "Import the api"]
    assert len(await source.commits(repository, head, "apps", limit=1)) == 1
    assert await source.commits(repository, head, "*.yaml") == ()


async def test_a_commit_leads_to_itself_and_to_what_came_before_it(repository):
    source = LocalGitSource()
    head = await source.head(repository)
    _, trim, first = [one.sha for one in await source.commits(repository, head)]
    assert await source.leads_to(repository, head, first)
    assert await source.leads_to(repository, trim, trim)
    assert not await source.leads_to(repository, first, trim)
    with pytest.raises(PermanentError):
        await source.leads_to(repository, "f" * 40, trim)


async def test_a_file_is_shown_before_and_after_a_commit(repository):
    source = LocalGitSource()
    head = await source.head(repository)
    (trim, _) = await source.commits(repository, head, "apps/api/a.yaml")
    shown = [await source.show(repository, sha, "apps/api/a.yaml") for sha in (trim.parent, head)]
    assert shown == [b"memory: 256Mi\n", b"memory: 192Mi\n"]
    for path in ("none.yaml", "apps", "a b 12", "x\ny", ""):
        assert await source.show(repository, head, path) is None


async def test_what_is_no_commit_id_never_reaches_git(repository):
    with pytest.raises(PermanentError, match="commit id"):
        await LocalGitSource().files(repository, "--help")


async def test_only_the_asked_paths_count_as_touched(repository):
    source = LocalGitSource()
    head = await source.head(repository)
    first = (await source.commits(repository, head))[-1].sha
    asked = ["apps/api/a.yaml", "run.yaml"]
    assert await source.touched_since(repository, first, head, asked) == ("apps/api/a.yaml",)
    assert await source.touched_since(repository, first, head, ["run.yaml"]) == ()
    assert await source.touched_since(repository, first, head, []) == ()


async def test_git_says_what_failed_and_where(repository):
    with pytest.raises(GitFailed, match=r"git cat-file on .*platform\.git"):
        await Git(repository.git_dir).run("cat-file", "-p", "nothing")


async def test_git_that_takes_too_long_is_stopped_and_may_be_tried_again(repository):
    with pytest.raises(TransientError, match="took over"):
        await Git(repository.git_dir, timeout=0.0001).run("rev-list", "--all")


async def test_a_pull_request_is_one_branch_one_commit_and_one_record(repository):
    request = await request_for(repository)
    opened = await forge().open_pull(request)
    assert branches(repository) == [BRANCH]
    assert git(repository.git_dir, "rev-parse", BRANCH) == opened.commit
    assert git(repository.git_dir, "rev-parse", f"{BRANCH}^") == request.parent_sha
    changed = git(repository.git_dir, "diff", "--name-status", "main", BRANCH).split()
    assert changed == ["M", "apps/api/a.yaml", "A", "new/b.md", "M", "run.yaml"]
    assert (opened.number, opened.state, opened.opened_at) == (1, "open", NOW)
    (record,) = records(repository)
    assert json.loads(record.read_text())["commit"] == opened.commit
    assert opened.url == record.as_uri()
    assert await find_pull(repository, BRANCH) == opened


async def test_the_repository_stays_sound_and_modes_stay_as_they_were(repository):
    await forge().open_pull(await request_for(repository))
    git(repository.git_dir, "fsck", "--strict", "--full")
    listing = git(repository.git_dir, "ls-tree", "-r", BRANCH)
    modes = {line.split("\t")[1]: line.split()[0] for line in listing.splitlines()}
    assert (modes["run.yaml"], modes["new/b.md"]) == ("100755", "100644")
    author = git(repository.git_dir, "log", "-1", "--format=%an <%ae>|%cn|%aI|%s", BRANCH)
    assert author == (
        "Tocsin <tocsin@localhost>|Tocsin|2026-01-05T10:00:00+00:00|"
        "Raise the memory of payments-api"
    )


async def test_the_base_branch_never_moves(repository):
    before = await LocalGitSource().head(repository)
    await forge().open_pull(await request_for(repository))
    assert await LocalGitSource().head(repository) == before


async def test_the_same_request_again_is_the_same_pull_request(repository):
    request = await request_for(repository)
    first = await forge().open_pull(request)
    assert await LocalGitForge().open_pull(request) == first
    assert len(records(repository)) == 1


async def test_the_same_request_makes_the_same_commit_in_any_copy(repository, tmp_path):
    shutil.copytree(repository.git_dir, tmp_path / "copy.git")
    copy = repository.model_copy(update={"git_dir": tmp_path / "copy.git"})
    one = await forge().open_pull(await request_for(repository))
    two = await forge().open_pull(await request_for(copy))
    assert one.commit == two.commit


async def test_opening_many_times_at_once_opens_one(repository):
    request = await request_for(repository)
    opened = await asyncio.gather(*(forge().open_pull(request) for _ in range(5)))
    assert len(set(opened)) == 1
    assert (branches(repository), len(records(repository))) == ([BRANCH], 1)


async def test_different_plans_for_one_branch_at_once_let_one_win(repository):
    requests = [await request_for(repository, title=f"Plan {n}") for n in range(4)]
    done = await asyncio.gather(
        *(forge().open_pull(request) for request in requests), return_exceptions=True
    )
    assert sorted(type(result).__name__ for result in done) == ["BranchTaken"] * 3 + ["PullRequest"]
    assert len(records(repository)) == 1


async def test_a_crash_between_branch_and_record_heals_with_the_next_try(repository):
    request = await request_for(repository)
    first = await forge().open_pull(request)
    (record,) = records(repository)
    record.unlink()
    assert await forge().open_pull(request) == first


async def test_a_crash_before_the_branch_leaves_nothing_to_clean_up(repository):
    request = await request_for(repository)
    first = await forge().open_pull(request)
    git(repository.git_dir, "update-ref", "-d", f"refs/heads/{BRANCH}")
    records(repository)[0].unlink()
    assert (await forge().open_pull(request)).commit == first.commit


async def test_a_branch_with_another_commit_is_never_overwritten(repository):
    taken = git(repository.git_dir, "rev-parse", "main")
    git(repository.git_dir, "update-ref", f"refs/heads/{BRANCH}", taken)
    with pytest.raises(BranchTaken) as refused:
        await forge().open_pull(await request_for(repository))
    assert (refused.value.branch, refused.value.commit) == (BRANCH, taken)
    assert git(repository.git_dir, "rev-parse", BRANCH) == taken
    assert records(repository) == []


async def test_a_person_who_builds_on_the_branch_does_not_undo_the_pull_request(repository):
    request = await request_for(repository)
    first = await forge().open_pull(request)
    git(repository.git_dir, "update-ref", f"refs/heads/{BRANCH}", request.parent_sha)
    assert await forge().open_pull(request) == first


async def test_pull_requests_are_numbered_in_order(repository):
    names = [f"tocsin/x-{n}" for n in range(3)]
    for name in names:
        await forge().open_pull(await request_for(repository, head_branch=name))
    found = [await find_pull(repository, name) for name in names]
    assert [pull and pull.number for pull in found] == [1, 2, 3]


async def test_what_is_no_plain_file_is_never_written(repository):
    request = await request_for(repository, files={"link.yaml": b"apps"})
    with pytest.raises(PermanentError, match="120000"):
        await forge().open_pull(request)
    assert branches(repository) == []


async def test_no_record_means_no_pull_request(repository):
    assert await find_pull(repository, "tocsin/none") is None


def merge(repository: Repository) -> None:
    """Merge the way a person would: a merge commit on top of main."""
    git_dir = repository.git_dir
    parents = ("-p", "main", "-p", BRANCH)
    merged = git(git_dir, "commit-tree", f"{BRANCH}^{{tree}}", *parents, "-m", "Merge")
    git(git_dir, "update-ref", "refs/heads/main", merged)


def fast_forward(repository: Repository) -> None:
    git(repository.git_dir, "update-ref", "refs/heads/main", BRANCH)


def delete(repository: Repository) -> None:
    git(repository.git_dir, "update-ref", "-d", f"refs/heads/{BRANCH}")


def forget(repository: Repository) -> None:
    delete(repository)
    git(repository.git_dir, "gc", "-q", "--prune=now")


def move_on(repository: Repository) -> None:
    empty = git(repository.git_dir, "commit-tree", "main^{tree}", "-p", "main", "-m", "More")
    git(repository.git_dir, "update-ref", "refs/heads/main", empty)


@pytest.mark.parametrize(
    ("steps", "state"),
    [
        ((), "open"),
        ((move_on,), "open"),
        ((merge,), "merged"),
        ((fast_forward,), "merged"),
        ((merge, delete, move_on), "merged"),
        ((delete,), "closed"),
        ((forget,), "closed"),
    ],
    ids=["nothing", "moved-on", "merged", "forwarded", "merged-long-ago", "deleted", "forgotten"],
)
async def test_what_became_of_a_pull_request_is_read_from_git(repository, steps, state):
    opened = await forge().open_pull(await request_for(repository))
    (record,) = records(repository)
    written = record.read_bytes()
    for step in steps:
        step(repository)
    found = await find_pull(repository, BRANCH)
    told = {"state": found.state, "ended_at": found.ended_at, "merged_commit": found.merged_commit}
    assert found == opened.model_copy(update=told)
    assert found.state == state
    assert bool(found.merged_commit) == (state == "merged")
    assert record.read_bytes() == written


async def test_a_record_that_a_person_has_closed_stays_closed(repository):
    await forge().open_pull(await request_for(repository))
    (record,) = records(repository)
    record.write_text(record.read_text().replace('"open"', '"closed"'))
    assert (await find_pull(repository, BRANCH)).state == "closed"


async def test_a_repository_that_is_gone_is_no_closed_pull_request(repository):
    await forge().open_pull(await request_for(repository))
    shutil.rmtree(repository.git_dir)
    with pytest.raises(GitFailed):
        await find_pull(repository, BRANCH)


async def test_a_branch_is_found_by_its_whole_name_alone(repository):
    opened = await forge().open_pull(await request_for(repository))
    source = LocalGitSource()
    assert await source.branch(repository, BRANCH) == opened.commit
    for name in ("tocsin", "tocsin/none", BRANCH[:-1], "tocsin/*", "--all"):
        assert await source.branch(repository, name) is None


async def test_a_damaged_record_is_named_and_not_taken_for_none(repository):
    pulls.folder(repository).mkdir()
    pulls.record(repository, BRANCH).write_text("{}")
    with pytest.raises(PermanentError, match=r"tocsin__raise-memory"):
        await find_pull(repository, BRANCH)
