"""The git data API of a fake GitHub: blobs, trees, commits and refs of a real repository."""

import base64
from dataclasses import dataclass
from datetime import datetime

from tocsin_testing.forges.bare import Entry, Stored
from tocsin_testing.forges.github_answers import SITE, Route, not_found, refused, shown, time
from tocsin_testing.forges.loose import Loose
from tocsin_testing.forges.web import Answer, Asked

_HEADS = "refs/heads/"
_URL = f"{SITE}/git"


@dataclass(frozen=True, slots=True)
class GitHubGit:
    """What is below `git/` of one repository."""

    bare: Loose

    def routes(self) -> list[Route]:
        """Return what is answered."""
        return [
            ("POST", "git/blobs", self.new_blob),
            ("POST", "git/trees", self.new_tree),
            ("GET", "git/trees/([^/]+)", self.tree),
            ("POST", "git/commits", self.new_commit),
            ("GET", "git/commits/([^/]+)", self.commit),
            ("POST", "git/refs", self.new_ref),
            ("PATCH", "git/refs/heads/(.+)", self.move_ref),
            ("GET", "git/ref/heads/(.+)", self.ref),
            ("GET", "contents/(.+)", self.contents),
        ]

    def new_blob(self, asked: Asked) -> Answer:
        """Store the bytes of a file."""
        content, encoding = asked.body["content"], asked.body.get("encoding")
        data = base64.b64decode(content) if encoding == "base64" else content.encode()
        return shown("short-blob", 201, sha=self.bare.blob(data), url=_URL)

    def contents(self, asked: Asked, path: str) -> Answer:
        """Show a file of a commit, with its bytes."""
        revision = asked.query["ref"]
        entry = self.bare.entry(revision, path) if self.bare.has(revision) else None
        if entry is None:
            return not_found()
        text = base64.encodebytes(self.bare.read(entry.oid)).decode()
        return shown("content-file", path=path, sha=entry.oid, encoding="base64", content=text)

    def new_tree(self, asked: Asked) -> Answer:
        """Store a tree that is another with some files replaced."""
        entries = [Entry(e["mode"], e["type"], e["sha"], e["path"]) for e in asked.body["tree"]]
        if not all(self.bare.has(entry.oid) for entry in entries):
            return refused(422, "tree.sha is not a valid blob")
        return self._tree(self.bare.tree(asked.body.get("base_tree", ""), entries), 201)

    def tree(self, asked: Asked, sha: str) -> Answer:
        """Show one folder."""
        del asked
        return self._tree(sha) if self.bare.has(sha) else not_found()

    def new_commit(self, asked: Asked) -> Answer:
        """Store a commit, on no branch."""
        author, body = asked.body["author"], asked.body
        assert author == body["committer"], "two people in one commit"
        sha = self.bare.commit_tree(
            body["tree"],
            body["parents"],
            body["message"],
            (author["name"], author["email"]),
            datetime.fromisoformat(author["date"]),
        )
        return _commit(self.bare.stored(sha), 201)

    def commit(self, asked: Asked, sha: str) -> Answer:
        """Show a commit."""
        del asked
        return _commit(self.bare.stored(sha)) if self.bare.has(sha) else not_found()

    def new_ref(self, asked: Asked) -> Answer:
        """Create a branch."""
        branch, sha = asked.body["ref"].removeprefix(_HEADS), asked.body["sha"]
        if not self.bare.has(sha):
            return refused(422, "Object does not exist")
        if self.bare.head(branch) is not None:
            return refused(422, "Reference already exists")
        self.bare.move(branch, sha, None)
        return _ref(branch, sha, 201)

    def move_ref(self, asked: Asked, branch: str) -> Answer:
        """Move a branch forwards."""
        there, sha = self.bare.head(branch), asked.body["sha"]
        if there is None:
            return refused(422, "Reference does not exist")
        if not asked.body.get("force") and not self.bare.leads_to(there, sha):
            return refused(422, "Update is not a fast forward")
        self.bare.move(branch, sha, there)
        return _ref(branch, sha)

    def ref(self, asked: Asked, branch: str) -> Answer:
        """Show where a branch is."""
        del asked
        there = self.bare.head(branch)
        return _ref(branch, there) if there else not_found()

    def _tree(self, sha: str, status: int = 200) -> Answer:
        entries = [
            {"path": e.path, "mode": e.mode, "type": e.type, "sha": e.oid}
            for e in self.bare.folder(sha)
        ]
        return shown("git-tree", status, sha=sha, tree=entries)


def _commit(stored: Stored, status: int = 200) -> Answer:
    person = {"name": stored.author, "email": stored.email, "date": time(stored.at)}
    return shown(
        "git-commit",
        status,
        sha=stored.sha,
        author=person,
        committer=person,
        message=stored.message,
        tree={"sha": stored.tree, "url": _URL},
        parents=[{"sha": sha, "url": _URL, "html_url": _URL} for sha in stored.parents],
    )


def _ref(branch: str, sha: str, status: int = 200) -> Answer:
    known = {"type": "commit", "sha": sha, "url": _URL}
    return shown("git-ref", status, ref=f"{_HEADS}{branch}", object=known)
