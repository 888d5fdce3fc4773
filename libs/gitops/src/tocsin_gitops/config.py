"""Read gitops.yaml: which repositories Tocsin may read and write, and within which policy."""

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tocsin_gitops.policy import Limits, RepositoryRule, WritePolicy
from tocsin_gitops.providers import KNOWN, LOCAL, Provider
from tocsin_gitops.splice import decode
from tocsin_gitops.yaml_nodes import EditRefused, documents
from tocsin_kit.errors import PermanentError


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
    limits: Limits = Limits()

    @field_validator("repositories")
    @classmethod
    def _one_name_each(cls, repositories: tuple[Repository, ...]) -> tuple[Repository, ...]:
        names = [repository.name for repository in repositories]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two repositories are called {', '.join(twice)}")
        return repositories

    @property
    def policy(self) -> WritePolicy:
        """What may be written, with the repositories and paths it may be written to."""
        return WritePolicy(repositories=self.repositories, limits=self.limits)

    def repository(self, name: str) -> Repository:
        """Return the repository of that name; PermanentError if the operator named none."""
        for repository in self.repositories:
            if repository.name == name:
                return repository
        known = ", ".join(r.name for r in self.repositories) or "none"
        raise PermanentError(f"no repository {name!r}; known: {known}")

    def provider(self, host: str) -> Provider:
        """Return the provider of that host; PermanentError if there is no entry for it."""
        for provider in (*self.providers, *KNOWN):
            if provider.host == host:
                return provider
        raise PermanentError(f"no provider {host!r}; add it to `providers` in gitops.yaml")

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
    placed = tuple(
        repository.model_copy(update={"git_dir": folder / repository.git_dir})
        for repository in config.repositories
    )
    return config.model_copy(update={"repositories": placed})


def refuse_missing(config: GitOps) -> None:
    """Refuse a configuration that names a repository which is not there; PermanentError says which.

    A bare repository is told by its HEAD file.
    """
    for repository in config.repositories:
        if not (repository.git_dir / "HEAD").is_file():
            place = str(repository.git_dir)
            raise PermanentError(
                f"repository {repository.name!r}: {place!r} is no bare git repository; "
                "mend git_dir in gitops.yaml"
            )


def _first(error: ValidationError) -> str:
    problem = error.errors()[0]
    key = ".".join(str(step) for step in problem["loc"]) or "the file"
    return f"{key}: {problem['msg']}"
