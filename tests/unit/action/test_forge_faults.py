"""An approved plan against every host and every fault, as the bus gives it again and again."""

import pytest

from tocsin_contracts import PullRequestOpened
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.forges.gitea import GiteaForge
from tocsin_gitops.forges.github import GitHubForge
from tocsin_gitops.forges.gitlab import GitLabForge
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.gitea import GiteaPulls
from tocsin_gitops.hosts.github import GitHubPulls
from tocsin_gitops.hosts.gitlab import GitLabPulls
from tocsin_gitops.hosts.tokens import PlainToken
from tocsin_gitops.providers import HostType, Provider
from tocsin_gitops.source import LocalGitSource
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_testing import build
from tocsin_testing.forges.bare import bare
from tocsin_testing.forges.faults import FAULTS, Wire
from tocsin_testing.forges.gitea import FakeGitea
from tocsin_testing.forges.github import FakeGitHub
from tocsin_testing.forges.gitlab import FakeGitLab
from tocsin_testing.forges.loose import Loose

HOST = "git.example"
KINDS = {
    HostType.GITHUB: (FakeGitHub, GitHubForge, GitHubPulls),
    HostType.GITLAB: (FakeGitLab, GitLabForge, GitLabPulls),
    HostType.GITEA: (FakeGitea, GiteaForge, GiteaPulls),
}
FILE = build.target().file
LASTING = ("409", "422")
TRIES = 5


class Copy:
    """Reads the host's own git as from a copy fetched just now, and its API for pull requests."""

    def __init__(self, git_dir, pulls):
        self._here, self._pulls = {"host": "local", "git_dir": git_dir}, pulls

    def __getattr__(self, name):
        if told := getattr(self._pulls, name, None):
            return told
        read = getattr(LocalGitSource(), name)
        return lambda repo, *rest: read(repo.model_copy(update=self._here), *rest)


class Place:
    """A repository at a host of one kind; its wire fails where a test says."""

    def __init__(self, desk, kind, git_dir):
        fake, forge, pulls = KINDS[kind]
        self.git = Loose(git_dir)
        self.fake = fake(desk.repo, self.git, desk.clock.now)
        self.wire = Wire(self.fake)
        provider = Provider(host=HOST, type=kind, token_env="GIT_TOKEN")
        tokens = PlainToken("GIT_TOKEN", "bot-token", "to write")
        client = ForgeClient(provider, tokens, clock=desk.clock, transport=self.wire)
        self.forges = {HOST: forge(client)}
        repository = Repository(name=desk.repo, host=HOST, paths=("apps/**",))
        desk.gitops = GitOps(repositories=(repository,), providers=(provider,))
        desk.base, desk.source = self.git.head("main"), Copy(git_dir, pulls(client))


@pytest.fixture
def git_dir(desk, tmp_path):
    return bare(tmp_path / "platform.git", {desk.file: desk.manifest}).git_dir


async def given(desk, event):
    """Give an event until it is handled or can never be; return its answer and what failed."""
    failed = []
    for _ in range(TRIES):
        try:
            return await desk.handlers().on_approval_granted(event), failed
        except PermanentError as error:
            return error, failed
        except TransientError as error:
            failed.append(error)
    raise AssertionError(f"no end after {TRIES} tries: {failed}")


async def ended(kind, git_dir, make, monkeypatch, fails=(-1, FAULTS["timeout"])):
    desk = make()
    place = Place(desk, kind, git_dir)
    monkeypatch.setattr(type(desk), "forges", place.forges)
    plan = desk.plan(target=build.target(host=HOST))
    event = await desk.approved(plan)
    place.wire.position, place.wire.fault = fails
    answer, failed = await given(desk, event)
    return place, plan, answer, failed, place.git.head(plan.head_branch)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
async def test_p2_whatever_a_host_answers_at_any_call_one_pull_request_or_a_plain_end(
    desk, kind, fault, git_dir, monkeypatch
):
    place, plan, answer, *_ = await ended(kind, git_dir, type(desk), monkeypatch)
    assert isinstance(answer, PullRequestOpened)
    calls = len(place.wire.seen)
    assert calls > 3
    for position in range(calls):
        if place.git.head(plan.head_branch):
            place.git.drop(plan.head_branch)
        place, plan, answer, failed, head = await ended(
            kind, git_dir, type(desk), monkeypatch, (position, FAULTS[fault])
        )
        where = (position, answer, failed, place.fake.pulls)
        assert len(place.fake.pulls) <= 1, where
        assert len(place.wire.seen) > position, where
        if fault in LASTING and isinstance(answer, PermanentError):
            assert failed == [], where
            continue
        assert isinstance(answer, PullRequestOpened), where
        assert len(failed) <= 1, where
        assert len(place.fake.pulls) == 1, where
        assert place.git.changed(place.git.head("main"), head) == {FILE: "M"}, where
