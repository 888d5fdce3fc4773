"""The records of local pull requests: a folder of JSON files beside the bare repository."""

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
