"""A fake GitLab or Gitea with one repository, and our own classes that read and write it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tocsin_gitops.config import Repository
from tocsin_gitops.forges.gitea import GiteaForge
from tocsin_gitops.forges.gitlab import GitLabForge
from tocsin_gitops.forges.port import PullRequestRequest
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.gitea import GiteaPulls
from tocsin_gitops.hosts.gitlab import GitLabPulls
from tocsin_gitops.hosts.tokens import PlainToken
from tocsin_gitops.providers import HostType, Provider
from tocsin_testing.fakes import FakeClock
from tocsin_testing.forges.bare import Entry, bare
from tocsin_testing.forges.faults import Wire
from tocsin_testing.forges.gitea import FakeGitea
from tocsin_testing.forges.gitlab import FakeGitLab
from tocsin_testing.forges.loose import Loose

_Fake = type[FakeGitLab] | type[FakeGitea]
_Forge = type[GitLabForge] | type[GiteaForge]
_Pulls = type[GitLabPulls] | type[GiteaPulls]

NAME, BRANCH = "shop/platform", "tocsin/raise-memory-0123456789"
TOKEN = "bot-token"
PLAN, NEXT_PLAN = "a" * 64, "b" * 64
BODY = f"Because it was killed.\n\nTocsin-Plan: {PLAN}\n"
BEFORE = {"apps/api/a.yaml": b"memory: 256Mi\n", "run.yaml": b"a: 1\n", "other.yaml": b"o: 1\n"}
AFTER = {"apps/api/a.yaml": b"memory: 512Mi\r\n", "run.yaml": b"a: 2", "new/b.md": b"\xff\x00"}
KINDS: Mapping[HostType, tuple[_Fake, _Forge, _Pulls]] = {
    HostType.GITLAB: (FakeGitLab, GitLabForge, GitLabPulls),
    HostType.GITEA: (FakeGitea, GiteaForge, GiteaPulls),
}
_FIRST = "first"


@dataclass
class RemoteWorld:
    """Everything a test touches; `wire` sees every request."""

    fake: FakeGitLab | FakeGitea
    forge: GitLabForge | GiteaForge
    pulls: GitLabPulls | GiteaPulls
    wire: Wire
    clock: FakeClock
    repository: Repository

    @property
    def main(self) -> str:
        """Where the base branch is."""
        return self.fake.bare.head("main") or ""

    @property
    def head(self) -> str:
        """Where our branch is; empty if it is not there."""
        return self.fake.bare.head(BRANCH) or ""

    def request(self, **changes: Any) -> PullRequestRequest:
        """Return what a plan asks for: two files replaced and one made, on top of main."""
        request = PullRequestRequest(
            repository=self.repository,
            base_branch="main",
            parent_sha=self.main,
            head_branch=BRANCH,
            title="Raise the memory of payments-api",
            body=BODY,
            files=AFTER,
        )
        return replace(request, **changes)

    def more(self, commit: str) -> PullRequestRequest:
        """Return what the next plan asks for, on top of a commit of our branch."""
        return self.request(
            parent_sha=commit,
            title="Raise it more",
            body=BODY.replace(PLAN, NEXT_PLAN),
            files={"apps/api/a.yaml": b"memory: 1Gi\n"},
        )

    def holds(self, commit: str, parent: str, files: dict[str, bytes]) -> bool:
        """Whether a commit is the parent with these bytes and nothing else."""
        git = self.fake.bare
        entries = {entry.path: entry for entry in git.entries(commit)}
        kept = {path: git.read(entries[path].oid) for path in files if path in entries}
        is_child = git.stored(commit).parents == (parent,)
        return is_child and kept == files and set(git.changed(parent, commit)) == set(files)


def world(kind: HostType, git: Loose, *, token: str = TOKEN) -> RemoteWorld:
    """Put a fake host around a repository, and our classes in front of it."""
    fake_type, forge_type, pulls_type = KINDS[kind]
    clock = FakeClock()
    fake = fake_type(NAME, git, clock.now)
    wire = Wire(fake)
    provider = Provider(host="git.example", type=kind, token_env="GIT_TOKEN")
    tokens = PlainToken("GIT_TOKEN", token, "to write the repository")
    client = ForgeClient(provider, tokens, clock=clock, transport=wire)
    repository = Repository(name=NAME, host=provider.host, paths=("**",))
    return RemoteWorld(fake, forge_type(client), pulls_type(client), wire, clock, repository)


def origin(folder: Path) -> Loose:
    """Make a repository with plain files, a program and a link; `fresh` brings it back to that."""
    made = Loose(bare(folder, BEFORE).git_dir)
    head = made.head("main") or ""
    link = Entry("120000", "blob", made.blob(b"run.yaml"), "link.yaml")
    program = Entry("100755", "blob", made.blob(BEFORE["run.yaml"]), "run.yaml")
    tree = made.tree(head, [link, program])
    made.move(_FIRST, made.commit_tree(tree, [head], "A link and a program\n"), None)
    return fresh(made)


def fresh(git: Loose) -> Loose:
    """Put the branches back to how they were made; commits made since are on none of them."""
    shutil.rmtree(git.git_dir / "refs/heads/tocsin", ignore_errors=True)
    git.move("main", git.head(_FIRST) or "", git.head("main"))
    return git
