"""The read side of the places that hold pull requests, by type of host; nothing here writes."""

from collections.abc import Callable, Mapping

from tocsin_gitops.config import GitOps
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.credentials import tokens
from tocsin_gitops.hosts.gitea import GiteaPulls
from tocsin_gitops.hosts.github import GitHubPulls
from tocsin_gitops.hosts.gitlab import GitLabPulls
from tocsin_gitops.hosts.local import LocalPulls
from tocsin_gitops.hosts.port import PullReader
from tocsin_gitops.providers import LOCAL, HostType
from tocsin_kit.clock import Clock

READERS: Mapping[HostType, Callable[[ForgeClient], PullReader]] = {
    HostType.GITHUB: GitHubPulls,
    HostType.GITLAB: GitLabPulls,
    HostType.GITEA: GiteaPulls,
}


def build(gitops: GitOps, environment: Mapping[str, str], clock: Clock) -> Mapping[str, PullReader]:
    """Return what reads pull requests, by host; without a token it asks as nobody."""
    found: dict[str, PullReader] = {LOCAL: LocalPulls()}
    for provider in gitops.remote_providers:
        ours = tokens(provider, environment, clock, writing=False)
        found[provider.host] = READERS[provider.type](ForgeClient(provider, ours, clock=clock))
    return found
