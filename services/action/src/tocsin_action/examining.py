"""How the repositories at forges are: what our token may, and who guards what we propose to."""

from collections.abc import Callable

from pydantic import BaseModel

from tocsin_contracts.doctor import Condition, Finding
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.hosts.client import ForgeClient, at
from tocsin_gitops.providers import HostType, Provider
from tocsin_kit.errors import PermanentError, TransientError

DEVELOPER, MAINTAINER = 30, 40
"""Levels of GitLab: from the first on one may push branches, from the second on settings."""


class Level(BaseModel):
    """What one may at GitLab."""

    access_level: int = 0


class Rights(BaseModel):
    """What one may, in the words of GitHub and Gitea, or of GitLab."""

    push: bool = False
    admin: bool = False
    project_access: Level | None = None
    group_access: Level | None = None

    @property
    def level(self) -> int:
        """The level that these come to."""
        given = [one.access_level for one in (self.project_access, self.group_access) if one]
        ours = DEVELOPER if self.push else 0
        return max([MAINTAINER if self.admin else ours, *given])


class Described(BaseModel):
    """A repository as its forge tells it."""

    permissions: Rights | None = None
    archived: bool = False


class Branch(BaseModel):
    """A branch as its forge tells it."""

    protected: bool | None = None


async def examine(gitops: GitOps, client: Callable[[Provider], ForgeClient]) -> list[Finding]:
    """Return how each remote repository is; only reads are asked for."""
    found: list[Finding] = []
    clients = {provider.host: provider for provider in gitops.remote_providers}
    for repository in gitops.repositories:
        if repository.is_remote:
            found += await _one(client, clients[repository.host], repository)
    return found or [_found("forges", Condition.OK, "no repository is on another machine")]


async def _one(
    client: Callable[[Provider], ForgeClient], provider: Provider, repository: Repository
) -> list[Finding]:
    name = repository.name
    try:
        asked = client(provider)
        described = await asked.get(Described, name, _path(provider, name))
        branch = await asked.get(
            Branch, name, _path(provider, name) + _branch(provider, repository)
        )
    except TransientError as error:
        told = f"{name}: {error}"
        return [_found(name, Condition.UNKNOWN, told, "let action reach its forge, and try again")]
    except PermanentError as error:
        do = "see docs/repositories.md for the rights that the token needs"
        return [_found(name, Condition.PROBLEM, str(error), do)]
    return [_rights(name, described), _guarded(name, repository.branch, branch)]


def _path(provider: Provider, name: str) -> str:
    if provider.type is HostType.GITLAB:
        return at("projects", name)
    return at("repos", *name.split("/"))


def _branch(provider: Provider, repository: Repository) -> str:
    if provider.type is HostType.GITLAB:
        return at("repository", "branches", repository.branch)
    return at("branches", repository.branch)


def _rights(name: str, described: Described) -> Finding:
    if described.archived:
        return _found(name, Condition.PROBLEM, "it is archived", "take it out of gitops.yaml")
    if described.permissions is None:
        told = "the forge does not say what the token may"
        return _found(name, Condition.UNKNOWN, told, "see docs/repositories.md")
    level = described.permissions.level
    if level < DEVELOPER:
        do = "give it the right to write contents and pull requests"
        return _found(name, Condition.PROBLEM, "the token may not push", do)
    if level >= MAINTAINER:
        told = "the token may push, and change settings too"
        return _found(name, Condition.WARNING, told, "give a token that may only write")
    return _found(name, Condition.OK, "the token may push, and change no settings")


def _guarded(name: str, base: str, branch: Branch) -> Finding:
    thing = f"{name}, branch {base}"
    if branch.protected is None:
        return _found(thing, Condition.UNKNOWN, "the forge does not say", "look at its settings")
    if not branch.protected:
        do = "protect it: no push, and a review before each merge"
        return _found(thing, Condition.WARNING, "whoever may push can change it unseen", do)
    return _found(thing, Condition.OK, "it is protected")


def _found(thing: str, condition: Condition, told: str, do: str = "") -> Finding:
    return Finding(part="forge", thing=thing, condition=condition, told=told, do=do)
