"""What a repository is asked to prove an undo."""

from datetime import UTC, datetime
from pathlib import Path

from tocsin_contracts import Edit, ObjectRef
from tocsin_gitops import past
from tocsin_gitops.config import Repository
from tocsin_gitops.objects import Commit

REPO = Repository(name="shop/gitops", git_dir=Path("none.git"), paths=("**",))
NOW = datetime(2026, 3, 2, tzinfo=UTC)


class Files:
    """A repository with two commits of one file."""

    async def commits(self, repo, sha, path="", limit=20):
        found = (("b", "a"), ("a", "")) if (sha, path) == ("b", "a.yaml") else ()
        return tuple(Commit(one, parent, "x", NOW, "y", (path,)) for one, parent in found[:limit])

    async def brought(self, repo, sha, commit):
        return "a", commit

    async def show(self, repo, sha, path):
        return f"{path} at {sha}".encode()


def undoing(commit, file="a.yaml"):
    document = ObjectRef(kind="Deployment", name="api")
    return Edit(file=file, document=document, path=("a",), old=1, new=2, undo_of=commit)


async def test_a_commit_that_leads_to_the_base_is_read_before_and_after():
    (step,) = await past.steps(Files(), REPO, "b", (undoing("b"), undoing("b")))
    assert (step.before, step.after) == (b"a.yaml at a", b"a.yaml at b")


async def test_a_commit_of_elsewhere_of_another_file_or_without_a_past_is_left_out():
    edits = (undoing("c"), undoing("b", "other.yaml"), undoing("a"), undoing(""))
    assert await past.steps(Files(), REPO, "b", edits) == ()
