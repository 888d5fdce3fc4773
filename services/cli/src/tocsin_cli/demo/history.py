"""Build the demo's GitOps repository: bare, and with the same commits every time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

from tocsin_cli.demo.git import git

BRANCH = "main"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: who, when, why, and the files it adds or changes."""

    team: str
    at: datetime
    subject: str
    files: Mapping[str, bytes]


def read(folder: Path) -> tuple[Commit, ...]:
    """Read commits.yaml and the numbered folders beside it, oldest first."""
    entries = yaml.safe_load((folder / "commits.yaml").read_bytes())
    return tuple(
        Commit(
            team=entry["team"],
            at=datetime.fromisoformat(entry["at"]),
            subject=entry["subject"],
            files=dict(_files(folder / f"{number:02}")),
        )
        for number, entry in enumerate(entries, start=1)
    )


def build(git_dir: Path, commits: Sequence[Commit]) -> None:
    """Make a bare repository that holds the commits on its main branch."""
    git(git_dir, "init", "--quiet", "--bare", f"--initial-branch={BRANCH}")
    git(git_dir, "fast-import", "--quiet", "--done", stdin=b"".join(stream(commits)))


def stream(commits: Sequence[Commit]) -> Iterator[bytes]:
    """Write the commits in the format of git fast-import."""
    for commit in commits:
        author = (
            f"{commit.team} <{commit.team}@example.com> {int(commit.at.timestamp())} {commit.at:%z}"
        )
        yield f"commit refs/heads/{BRANCH}\n".encode()
        yield f"author {author}\ncommitter {author}\n".encode()
        yield _data(f"{commit.subject}\n".encode())
        for path, content in sorted(commit.files.items()):
            yield f"M 100644 inline {path}\n".encode() + _data(content)
    yield b"done\n"


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for file in folder.rglob("*"):
        if file.is_file():
            yield file.relative_to(folder).as_posix(), file.read_bytes()


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)
