"""Webhooks of forges: what happens to pull requests after they are opened. One file for each."""

from collections.abc import Mapping
from types import MappingProxyType

from tocsin_contracts import ForgeKind
from tocsin_ingest.forge_hooks import gitea, github, gitlab
from tocsin_ingest.forge_hooks.telling import ReadHook

HOOKS: Mapping[ForgeKind, ReadHook] = MappingProxyType(
    {
        ForgeKind.GITHUB: github.read_hook,
        ForgeKind.GITLAB: gitlab.read_hook,
        ForgeKind.GITEA: gitea.read_hook,
    }
)
