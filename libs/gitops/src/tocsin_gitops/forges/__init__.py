"""The forges that can open pull requests, by the kind of host; only action imports this."""

from tocsin_gitops.forges.local import LocalGitForge
from tocsin_gitops.forges.port import BranchTaken, Forge, PullRequestRequest
from tocsin_kit.registry import Registry

__all__ = ["BUILTIN", "FORGES", "BranchTaken", "Forge", "LocalGitForge", "PullRequestRequest"]

BUILTIN: tuple[Forge, ...] = (LocalGitForge(),)

FORGES: Registry[Forge] = Registry("forge", BUILTIN)
