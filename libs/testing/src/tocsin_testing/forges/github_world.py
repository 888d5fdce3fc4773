"""A fake GitHub with one repository, and our own classes that read and write it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tocsin_gitops.config import Repository
from tocsin_gitops.forges.github import GitHubForge
from tocsin_gitops.forges.port import PullRequestRequest
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.github import GitHubPulls
from tocsin_gitops.hosts.tokens import PlainToken, Tokens
from tocsin_gitops.providers import HostType, Provider
from tocsin_testing.build import NOW
from tocsin_testing.fakes import FakeClock
from tocsin_testing.forges.faults import Wire
from tocsin_testing.forges.github import FakeGitHub
from tocsin_testing.forges.loose import loose

NAME, BRANCH = "shop/platform", "tocsin/raise-memory-0123456789"
FILE = "apps/api/a.yaml"
PROVIDER = Provider(host="github.example", type=HostType.GITHUB)
WRITER = PlainToken("GITHUB_TOKEN", "bot-token", "contents: write and pull requests: write")
FILES = {FILE: b"memory: 256Mi\n", "run.yaml": b"a: 1\n", "docs/a.md": b"# a\n"}


class GitHubWorld:
    """Everything a test touches; `wire` sees every request."""

    def __init__(self, folder: Path) -> None:
        self.bare = loose(folder / "platform.git")
        self.bare.push("main", FILES, "Import\n")
        self.clock = FakeClock(NOW)
        self.fake = FakeGitHub(NAME, self.bare, self.clock.now)
        self.wire = Wire(self.fake)
        self.repository = Repository(name=NAME, host=PROVIDER.host, paths=("**",))
        self.write_as(WRITER)

    def write_as(self, tokens: Tokens) -> None:
        """Read and write with these from now on."""
        self.client = ForgeClient(PROVIDER, tokens, clock=self.clock, transport=self.wire)
        self.forge = GitHubForge(self.client)
        self.pulls = GitHubPulls(self.client)

    def request(self, **changes: Any) -> PullRequestRequest:
        """Return what a plan asks for: one file replaced, on top of main."""
        request = PullRequestRequest(
            repository=self.repository,
            base_branch="main",
            parent_sha=self.bare.head("main") or "",
            head_branch=BRANCH,
            title="Raise the memory of api",
            body="It was killed.\n\nTocsin-Plan: abc\n",
            files={FILE: b"memory: 512Mi\n"},
        )
        return replace(request, **changes)

    def holds(self, commit: str, path: str = FILE) -> bytes | None:
        """Return the bytes that a commit has at a path, or None."""
        entry = self.bare.entry(commit, path)
        return self.bare.read(entry.oid) if entry else None
