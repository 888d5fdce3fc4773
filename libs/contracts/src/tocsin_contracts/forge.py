"""What people did with our pull requests, as their forge tells it."""

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from tocsin_contracts.base import Value
from tocsin_contracts.event import Event


class ForgeKind(StrEnum):
    """Which forge speaks; Forgejo speaks as Gitea."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"


class ForgeEventKind(StrEnum):
    """What happened to a pull request, or to its branch."""

    MERGED = "merged"
    CLOSED = "closed"
    REOPENED = "reopened"
    PUSHED = "pushed"
    COMMENTED = "commented"


class ForgeAuthor(Value):
    """Who did it. A login can be given to somebody else; the id never is."""

    id: str
    login: str = ""
    is_bot: bool = Field(default=False, description="Whether the forge says that it is a program.")


class Remark(Value):
    """A comment of a person on a pull request, by what stays: its author's id and its delivery."""

    author: str = Field(description="Forge and id, such as `github:583231`.")
    delivery: str = Field(description="The forge's own id of the delivery that told of it.")


class ForgeEventReceived(Event):
    """Something happened to a pull request or a branch; unless we opened it, its run is made up."""

    topic: ClassVar[str] = "forge.event-received.v1"

    forge: ForgeKind
    kind: ForgeEventKind
    repo: str = Field(description="Its full name, such as `shop/platform-gitops`.")
    number: int | None = Field(default=None, description="None for a push that names none.")
    head_branch: str = Field(default="", description="`owner:branch` if it lies in a fork.")
    url: str = ""
    author: ForgeAuthor
    body: str = Field(default="", description="What a comment says.")
    merged_commit: str = ""
    delivery: str = Field(description="The forge's own id of the delivery.")
