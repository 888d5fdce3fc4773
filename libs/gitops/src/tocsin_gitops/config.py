"""Read gitops.yaml: which repositories Tocsin may read and write, and within which policy."""

import re
from pathlib import Path
from typing import Self

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from tocsin_gitops.auto_approval import AutoApproval
from tocsin_gitops.policy import Limits, RepositoryRule, WritePolicy
from tocsin_gitops.providers import KNOWN, LOCAL, Provider
from tocsin_gitops.splice import decode
from tocsin_gitops.yaml_nodes import EditRefused, documents
from tocsin_kit.errors import PermanentError

_BRANCH = re.compile(r"[^\s:*?\[~^\\+/-][^\s:*?\[~^\\]*")


class Repository(RepositoryRule):
    """One repository; the alert selects among these and can never name another."""

    host: str = Field(default=LOCAL, description="The provider it lives on; see `providers`.")
    git_dir: Path = Field(
        default=Path(),
        description="The bare repository, relative to the file that names it; of a local one.",
    )
    branch: str = Field(default="main", description="What pull requests go to.")
    cluster: str = Field(default="", description="The one cluster it describes; empty for any.")
    namespaces: tuple[str, ...] = Field(default=(), description="Empty for every namespace.")
    urls: tuple[str, ...] = Field(
        default=(), description="What Argo CD or Flux clones it from, where its name does not tell."
    )

    @property
    def is_remote(self) -> bool:
        """Whether it is on another machine, and read from a copy here."""
        return self.host != LOCAL

    def serves(self, cluster: str, namespace: str) -> bool:
        """Whether an object of this cluster and namespace may come from this repository."""
        right_cluster = not self.cluster or not cluster or self.cluster == cluster
        return right_cluster and (not self.namespaces or namespace in self.namespaces)


class DeployedCluster(BaseModel):
    """What Argo CD and alerts call a cluster, where that differs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="As alerts name it.")
    server: str = Field(default="", description="Its API server, as Applications name it.")
    argo: str = Field(
        default="", description="The cluster whose Argo CD deploys to it; itself if left out."
    )


class GitOps(BaseModel):
    """Everything the operator allows; without a repository nothing is ever written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    providers: tuple[Provider, ...] = ()
    repositories: tuple[Repository, ...] = ()
    clusters: tuple[DeployedCluster, ...] = ()
    argo_namespaces: tuple[str, ...] = Field(
        default=("argocd",),
        description="Where Applications are believed; elsewhere only what Argo CD has marked.",
    )
    limits: Limits = Limits()
    auto_approve: tuple[AutoApproval, ...] = Field(
        default=(), description="Rules that approve plans without a person."
    )
    mirrors: Path = Field(
        default=Path(".tocsin/mirrors"),
        description="Folder of the copies of remote repositories, relative to the file.",
    )

    @field_validator("repositories")
    @classmethod
    def _one_name_each(cls, repositories: tuple[Repository, ...]) -> tuple[Repository, ...]:
        names = [repository.name for repository in repositories]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two repositories are called {', '.join(twice)}")
        return repositories

    @field_validator("auto_approve")
    @classmethod
    def _one_rule_each(cls, rules: tuple[AutoApproval, ...]) -> tuple[AutoApproval, ...]:
        if len({rule.name for rule in rules}) < len(rules):
            raise ValueError("two rules have the same name")
        return rules

    @field_validator("providers")
    @classmethod
    def _one_host_each(cls, providers: tuple[Provider, ...]) -> tuple[Provider, ...]:
        hosts = [provider.host for provider in providers]
        twice = sorted({host for host in hosts if hosts.count(host) > 1})
        if twice:
            raise ValueError(f"two providers have the host {', '.join(twice)}")
        return providers

    @model_validator(mode="after")
    def _at_known_hosts(self) -> Self:
        for repository in self.repositories:
            why = _out_of_place(repository, self._provider(repository.host))
            if why:
                raise ValueError(f"repository {repository.name!r}: {why}")
        return self

    @property
    def policy(self) -> WritePolicy:
        """What may be written, with the repositories and paths it may be written to.

        Where the copy of a remote repository lies decides nothing.
        """
        placeless = {"git_dir": Path()}
        repositories = tuple(
            repository.model_copy(update=placeless) if repository.is_remote else repository
            for repository in self.repositories
        )
        return WritePolicy(repositories=repositories, limits=self.limits)

    @property
    def remote_providers(self) -> tuple[Provider, ...]:
        """The providers of the repositories that are not on this machine."""
        hosts = dict.fromkeys(r.host for r in self.repositories if r.is_remote)
        return tuple(self.provider(host) for host in hosts)

    def repository(self, name: str) -> Repository:
        """Return the repository of that name; PermanentError if the operator named none."""
        for repository in self.repositories:
            if repository.name == name:
                return repository
        known = ", ".join(r.name for r in self.repositories) or "none"
        raise PermanentError(f"no repository {name!r}; known: {known}")

    def provider(self, host: str) -> Provider:
        """Return the provider of that host; PermanentError if there is no entry for it."""
        found = self._provider(host)
        if found is None:
            raise PermanentError(f"no provider {host!r}; add it to `providers` in gitops.yaml")
        return found

    def argo_of(self, cluster: str) -> str:
        """Return the cluster whose Argo CD deploys to this one."""
        known = (one.argo for one in self.clusters if one.name == cluster)
        return next(known, "") or cluster

    def address_of(self, cluster: str) -> str:
        """Return the API server of a cluster; empty if it is not known."""
        return next((one.server for one in self.clusters if one.name == cluster), "")

    def serving(self, cluster: str, namespace: str) -> tuple[Repository, ...]:
        """Return the repositories an object of this cluster and namespace may come from."""
        return tuple(r for r in self.repositories if r.serves(cluster, namespace))

    def _provider(self, host: str) -> Provider | None:
        return next((p for p in (*self.providers, *KNOWN) if p.host == host), None)


def load(path: Path) -> GitOps:
    """Read the file; PermanentError names the file and the key that is wrong."""
    try:
        _, text = decode(path.read_bytes())
        documents(text)
        config = GitOps.model_validate(yaml.safe_load(text) or {})
    except (OSError, EditRefused, yaml.YAMLError) as error:
        raise PermanentError(f"{str(path)!r} cannot be read: {error}") from error
    except ValidationError as error:
        raise PermanentError(f"{str(path)!r}: {_first(error)}") from error
    folder = path.absolute().parent
    mirrors = folder / config.mirrors
    placed = tuple(
        repository.model_copy(update={"git_dir": _place(repository, folder, mirrors)})
        for repository in config.repositories
    )
    return config.model_copy(update={"repositories": placed, "mirrors": mirrors})


def refuse_missing(config: GitOps) -> None:
    """Refuse a configuration that names a repository which is not there; PermanentError says which.

    Only those on this machine are looked at; a bare one is told by its HEAD file.
    """
    for repository in config.repositories:
        if not repository.is_remote and not (repository.git_dir / "HEAD").is_file():
            place = str(repository.git_dir)
            raise PermanentError(
                f"repository {repository.name!r}: {place!r} is no bare git repository; "
                "mend git_dir in gitops.yaml"
            )


def _place(repository: Repository, folder: Path, mirrors: Path) -> Path:
    if not repository.is_remote:
        return folder / repository.git_dir
    return mirrors / repository.host / f"{repository.name}.git"


def _out_of_place(repository: Repository, provider: Provider | None) -> str:
    if provider is None:
        return f"no provider has the host {repository.host!r}; add it to `providers`"
    if not repository.is_remote:
        return ""
    if repository.git_dir != Path():
        return "git_dir is for repositories of this machine"
    if not _BRANCH.fullmatch(repository.branch) or repository.branch.startswith("tocsin/"):
        return f"{repository.branch!r} can be no branch that pull requests go to"
    return provider.refuses(repository.name)


def _first(error: ValidationError) -> str:
    problem = error.errors()[0]
    key = ".".join(str(step) for step in problem["loc"]) or "the file"
    return f"{key}: {problem['msg']}"
