"""The forges that can open pull requests, by type of host; only action imports this."""

from collections.abc import Callable, Mapping

from tocsin_gitops.config import GitOps
from tocsin_gitops.forges.gitea import GiteaForge
from tocsin_gitops.forges.github import GitHubForge
from tocsin_gitops.forges.gitlab import GitLabForge
from tocsin_gitops.forges.local import LocalGitForge
from tocsin_gitops.forges.port import BranchTaken, Forge, PullRequestRequest
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.credentials import tokens
from tocsin_gitops.providers import LOCAL, HostType
from tocsin_kit.clock import Clock

__all__ = ["FORGES", "BranchTaken", "Forge", "LocalGitForge", "PullRequestRequest", "build"]

FORGES: Mapping[HostType, Callable[[ForgeClient], Forge]] = {
    HostType.GITHUB: GitHubForge,
    HostType.GITLAB: GitLabForge,
    HostType.GITEA: GiteaForge,
}


def build(gitops: GitOps, environment: Mapping[str, str], clock: Clock) -> Mapping[str, Forge]:
    """Return what writes to the repositories of gitops.yaml, by host.

    PermanentError names the variable that a host lacks its token in.
    """
    found: dict[str, Forge] = {LOCAL: LocalGitForge(clock.now)}
    for provider in gitops.remote_providers:
        ours = tokens(provider, environment, clock, writing=True)
        found[provider.host] = FORGES[provider.type](ForgeClient(provider, ours, clock=clock))
    return found
