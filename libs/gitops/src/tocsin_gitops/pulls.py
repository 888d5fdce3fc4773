"""The records of local pull requests: a folder of JSON files beside the bare repository."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from pydantic import AwareDatetime, Field, ValidationError

from tocsin_contracts import Value
from tocsin_gitops.config import Repository
from tocsin_kit.errors import PermanentError


class PullState(StrEnum):
    """What became of a pull request."""

    OPEN = "open"
    MERGED = "merged"
    CLOSED = "closed"


class PullRequest(Value):
    """One pull request as its forge knows it."""

    number: int
    title: str
    body: str
    head_branch: str
    base_branch: str
    commit: str
    state: PullState
    opened_at: AwareDatetime
    url: str
    ended_at: AwareDatetime | None = None
    ended_by: str = Field(default="", description="The id of who merged or closed it, if told.")
    merged_commit: str = Field(default="", description="What the base holds of it since.")


class Comment(Value):
    """One comment on a pull request; `author` is the forge's id of who wrote it."""

    id: str
    author: str
    body: str
    at: AwareDatetime
    url: str = ""


def folder(repository: Repository) -> Path:
    """Return where a repository's records are, such as platform.pulls beside platform.git."""
    return repository.git_dir.with_name(f"{repository.git_dir.stem}.pulls")


def record(repository: Repository, head_branch: str) -> Path:
    """Return the file of one branch's pull request."""
    return folder(repository) / f"{head_branch.replace('/', '__')}.json"


def read(file: Path) -> PullRequest | None:
    """Return what the record says, or None if there is none."""
    try:
        return PullRequest.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise PermanentError(f"{str(file)!r} is no record of a pull request: {error}") from error


def every(repository: Repository) -> dict[Path, PullRequest]:
    """Return all records by their file, the newest pull request first."""
    read_ones = ((file, read(file)) for file in folder(repository).glob("*.json"))
    found = [(file, pull) for file, pull in read_ones if pull]
    return dict(sorted(found, key=lambda pair: pair[1].number, reverse=True))


def numbered(repository: Repository, number: int) -> tuple[Path, PullRequest]:
    """Return the record of one pull request and its file; PermanentError if there is none."""
    for file, pull in every(repository).items():
        if pull.number == number:
            return file, pull
    raise PermanentError(f"{repository.name!r} has no pull request {number}")


def comments(record_file: Path) -> tuple[Comment, ...]:
    """Return the comments on the pull request of a record, as they were written."""
    return tuple(_comments(comments_file(record_file)))


def comments_file(record_file: Path) -> Path:
    """Return where comments are: a JSON object a line, beside the record."""
    return record_file.with_suffix(".comments.jsonl")


def _comments(file: Path) -> Iterator[Comment]:
    lines = file.read_bytes().splitlines() if file.exists() else ()
    for number, line in enumerate(lines, 1):
        try:
            yield Comment.model_validate_json(line)
        except ValidationError as error:
            sentence = f"{str(file)!r}: line {number} is no comment: {error}"
            raise PermanentError(sentence) from error
