"""The real bare repository that a fake forge keeps its branches in: blobs, commits and refs."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PEOPLE = ("Payments team", "payments@acme.example")
MADE = datetime(2026, 1, 5, 10, tzinfo=UTC)
NEW_FILE = "100644"
_NOTHING = "0" * 40
_FORMAT = "%H%x00%P%x00%T%x00%an%x00%ae%x00%aI%x00%B"
_QUIET = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}


@dataclass(frozen=True, slots=True)
class Stored:
    """One commit as git stores it."""

    sha: str
    parents: tuple[str, ...]
    tree: str
    author: str
    email: str
    at: datetime
    message: str


@dataclass(frozen=True, slots=True)
class Entry:
    """What a tree holds at a path."""

    mode: str
    type: str
    oid: str
    path: str


@dataclass(frozen=True, slots=True)
class Bare:
    """Git plumbing on one bare repository, for a fake and for what a test looks up itself."""

    git_dir: Path

    def run(self, *args: str, stdin: bytes = b"", **environment: str) -> bytes:
        """Return what git writes; a command that fails is a mistake of the test."""
        return subprocess.run(
            ["git", f"--git-dir={self.git_dir}", *args],
            input=stdin,
            env={"PATH": os.environ.get("PATH", os.defpath), **_QUIET, **environment},
            check=True,
            capture_output=True,
        ).stdout

    def text(self, *args: str, stdin: bytes = b"", **environment: str) -> str:
        """Return what git writes, as text without the line end."""
        return self.run(*args, stdin=stdin, **environment).decode().strip()

    def has(self, name: str) -> bool:
        """Whether there is an object of that name."""
        batch = self.text("cat-file", "--batch-check", stdin=name.encode())
        return not batch.endswith(("missing", "ambiguous"))

    def head(self, branch: str) -> str | None:
        """Return where a branch is, or None."""
        ref = f"refs/heads/{branch}"
        return self.text("for-each-ref", "--format=%(objectname)", ref) or None

    def move(self, branch: str, to: str, old: str | None) -> None:
        """Move a branch that is still where it was (None: not there) to a commit."""
        self.run("update-ref", f"refs/heads/{branch}", to, old or _NOTHING)

    def drop(self, branch: str) -> None:
        """Delete a branch."""
        self.run("update-ref", "-d", f"refs/heads/{branch}")

    def blob(self, data: bytes) -> str:
        """Store a blob; return its id."""
        return self.text("hash-object", "-w", "--stdin", stdin=data)

    def read(self, oid: str) -> bytes:
        """Return the bytes of a blob."""
        return self.run("cat-file", "blob", oid)

    def entry(self, tree: str, path: str) -> Entry | None:
        """Return what a commit or tree holds at a path, or None."""
        return next((e for e in self.entries(tree) if e.path == path), None)

    def entries(self, tree: str) -> list[Entry]:
        """Return every file of a commit or tree."""
        listing = self.run("ls-tree", "-r", "-z", tree).decode().split("\0")[:-1]
        words = (line.replace("\t", " ", 1).split(" ", 3) for line in listing)
        return [Entry(mode, kind, oid, path) for mode, kind, oid, path in words]

    def tree(self, base: str, changes: Sequence[Entry]) -> str:
        """Store the tree of another with some entries replaced; return its id."""
        lines = "".join(f"{e.mode} {e.oid}\t{e.path}\0" for e in changes).encode()
        with tempfile.TemporaryDirectory() as folder:
            index = str(Path(folder, "index"))
            self.run("read-tree", *([base] if base else ["--empty"]), GIT_INDEX_FILE=index)
            self.run("update-index", "-z", "--index-info", stdin=lines, GIT_INDEX_FILE=index)
            return self.text("write-tree", GIT_INDEX_FILE=index)

    def commit_tree(
        self,
        tree: str,
        parents: Sequence[str],
        message: str,
        who: tuple[str, str] = PEOPLE,
        at: datetime = MADE,
    ) -> str:
        """Store a commit; return its id."""
        identity = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", who[0]), ("EMAIL", who[1]), ("DATE", at.isoformat()))
        }
        asked = [word for parent in parents for word in ("-p", parent)]
        return self.text("commit-tree", tree, *asked, stdin=message.encode(), **identity)

    def stored(self, commit: str) -> Stored:
        """Return what a commit says."""
        shown = self.run("show", "--no-patch", f"--format={_FORMAT}", commit).decode()
        sha, parents, tree, author, email, at, message = shown.split("\0")
        when = datetime.fromisoformat(at)
        message = message.rstrip("\n") + "\n"
        return Stored(sha, tuple(parents.split()), tree, author, email, when, message)

    def changed(self, old: str, new: str) -> dict[str, str]:
        """Return the paths that differ between two commits, each with git's letter for how."""
        options = ("-r", "--no-renames", "--name-status", "-z")
        words = self.run("diff-tree", *options, old, new).decode().split("\0")[:-1]
        return dict(zip(words[1::2], words[::2], strict=True))

    def push(self, branch: str, files: Mapping[str, bytes], message: str = "A change\n") -> str:
        """Commit to a branch as a person would with git, whatever the forge's rules are."""
        old = self.head(branch)
        known = {e.path: e.mode for e in self.entries(old)} if old else {}
        entries = [
            Entry(known.get(path, NEW_FILE), "blob", self.blob(data), path)
            for path, data in files.items()
        ]
        commit = self.commit_tree(self.tree(old or "", entries), [old] if old else [], message)
        self.move(branch, commit, old)
        return commit


def bare(folder: Path, files: Mapping[str, bytes], branch: str = "main") -> Bare:
    """Make a bare repository with one commit of these files on one branch."""
    made = Bare(folder)
    made.run("init", "-q", "--bare", f"--initial-branch={branch}", str(folder))
    made.push(branch, files, "Import\n")
    return made
