"""What a repository with merges proves: only what its branch was before ever ran."""

import pytest

from tocsin_cli.demo import history
from tocsin_cli.demo.git import git
from tocsin_contracts import Edit, ObjectRef
from tocsin_gitops import past, undoing
from tocsin_gitops.config import Repository
from tocsin_gitops.source import LocalGitSource
from tocsin_testing import build

FILE = "apps/api.yaml"
DOCUMENT = ObjectRef(kind="Deployment", name="api")


IDENTITY = ("-c", "user.name=ana", "-c", "user.email=ana@localhost")


def manifest(image, note=""):
    text = f"# {note}\nkind: Deployment\nmetadata: {{name: api}}\nspec:\n  image: {image}\n"
    return text.encode()


def commit(git_dir, parents, image, note=""):
    """Put a commit of the file on top of others; return it."""
    blob = git(git_dir, "hash-object", "-w", "--stdin", stdin=manifest(image, note)).strip()
    folder = git(git_dir, "mktree", stdin=f"100644 blob {blob}\tapi.yaml\n".encode()).strip()
    root = git(git_dir, "mktree", stdin=f"040000 tree {folder}\tapps\n".encode()).strip()
    on = [option for parent in parents for option in ("-p", parent)]
    return git(git_dir, *IDENTITY, "commit-tree", root, *on, "-m", f"image {image}").strip()


@pytest.fixture
def repository(tmp_path):
    """A bare repository with one commit."""
    git_dir = tmp_path / "shop.git"
    history.build(git_dir, [history.Commit("ana", build.NOW, "Import", {FILE: manifest("a:1")})])
    return Repository(name="shop/gitops", git_dir=git_dir, paths=("**",))


async def fault(repository, head, edit):
    git(repository.git_dir, "update-ref", "refs/heads/main", head)
    return undoing.fault(edit, await past.steps(LocalGitSource(), repository, head, (edit,)))


def undo(of, old, new):
    return Edit(file=FILE, document=DOCUMENT, path=("spec", "image"), old=old, new=new, undo_of=of)


async def test_p9_what_stood_only_inside_of_a_merged_branch_never_ran_and_is_no_undo(repository):
    """Two commits that cancel each other out show nobody a diff, yet each has an inverse."""
    first = git(repository.git_dir, "rev-parse", "main").strip()
    planted = commit(repository.git_dir, [first], "evil:1")
    back = commit(repository.git_dir, [planted], "a:1", "a harmless note")
    merge = commit(repository.git_dir, [first, back], "a:1", "a harmless note")
    assert "did something else" in await fault(repository, merge, undo(back, "a:1", "evil:1"))


async def test_a_commit_that_a_merge_brought_is_undone_to_what_the_branch_was(repository):
    first = git(repository.git_dir, "rev-parse", "main").strip()
    theirs = commit(repository.git_dir, [first], "a:2")
    merge = commit(repository.git_dir, [first, theirs], "a:2")
    later = commit(repository.git_dir, [merge], "a:2")
    assert await fault(repository, later, undo(theirs, "a:2", "a:1")) == ""


async def test_a_commit_on_the_branch_itself_is_undone(repository):
    first = git(repository.git_dir, "rev-parse", "main").strip()
    second = commit(repository.git_dir, [first], "a:2")
    assert await fault(repository, second, undo(second, "a:2", "a:1")) == ""
