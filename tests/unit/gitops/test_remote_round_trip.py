"""What is written through the API of a host is seen in the copy, and the other way round."""

from dataclasses import replace

import pytest
import yaml

from tocsin_gitops import forges
from tocsin_gitops.config import load
from tocsin_gitops.forges import PullRequestRequest
from tocsin_gitops.providers import HostType
from tocsin_gitops.pulls import PullState
from tocsin_gitops.repositories import repositories
from tocsin_testing.fakes import NOW, FakeClock
from tocsin_testing.forges import web
from tocsin_testing.forges.gitea import FakeGitea
from tocsin_testing.forges.gitlab import FakeGitLab
from tocsin_testing.forges.hosting import ANN
from tocsin_testing.forges.loose import loose
from tocsin_testing.git_http import GitServer, serving

NAME, BRANCH, TOKEN = "shop/platform", "tocsin/raise-memory-0123456789", "bot-token"
FAKES = {HostType.GITLAB: FakeGitLab, HostType.GITEA: FakeGitea}


@pytest.fixture(params=FAKES, ids=lambda kind: kind.value)
def fake(request, tmp_path):
    """A host with an API and a git server over one repository, and gitops.yaml that names it."""
    remote = loose(tmp_path / "remote" / f"{NAME}.git")
    remote.push("main", {"apps/a.yaml": b"memory: 128Mi\n"}, "Import\n")
    host = FAKES[request.param](NAME, remote)
    with web.serving(host) as api, serving(GitServer(tmp_path / "remote", TOKEN)) as git:
        provider = {
            "host": "git.acme.example",
            "type": request.param.value,
            "api_base": api + host.prefix,
            "git_base": git,
            "token_env": "ACME_TOKEN",
        }
        named = {"name": NAME, "host": provider["host"], "paths": ["apps/**"]}
        file = {"providers": [provider], "repositories": [named]}
        (tmp_path / "gitops.yaml").write_text(yaml.safe_dump(file))
        yield host


async def test_a_pull_request_from_its_first_commit_to_its_merge(fake, tmp_path):
    gitops, environment = load(tmp_path / "gitops.yaml"), {"ACME_TOKEN": TOKEN}
    (repo,), clock = gitops.repositories, FakeClock()
    source = repositories(gitops, environment, clock, fresh=True)
    forge = forges.build(gitops, environment, clock)[repo.host]
    base = await source.head(repo)
    request = PullRequestRequest(
        repository=repo,
        base_branch="main",
        parent_sha=base,
        head_branch=BRANCH,
        title="Raise the memory",
        body=f"It was killed.\n\nTocsin-Plan: {'a' * 64}\n",
        files={"apps/a.yaml": b"memory: 256Mi\n"},
    )
    opened = await forge.open_pull(request)
    clock.advance(1)
    assert await source.branch(repo, BRANCH) == opened.commit
    assert await source.show(repo, opened.commit, "apps/a.yaml") == b"memory: 256Mi\n"
    assert await source.pulls(repo, BRANCH) == await source.open_pulls(repo)
    assert await source.proposed(repo, opened, "apps/a.yaml") == b"memory: 256Mi\n"
    assert await source.proposed(repo, opened, "apps/gone.yaml") is None

    more = replace(
        request,
        parent_sha=opened.commit,
        body=f"It was killed again.\n\nTocsin-Plan: {'b' * 64}\n",
        files={"apps/a.yaml": b"memory: 512Mi\n"},
    )
    added = await forge.add_commit(more, opened.number)
    said = await forge.comment(repo, opened.number, "It fires again.", "tocsin:run-1")
    assert await source.touched(repo, opened.number) == ("apps/a.yaml",)
    assert await source.comments(repo, opened.number, NOW.replace(year=2000)) == (said,)

    fake.bare.push(BRANCH, {"apps/a.yaml": b"memory: 1Gi\n"}, "By hand\n")
    clock.advance(1)
    (seen,) = await source.pulls(repo, BRANCH)
    assert seen.commit == await source.branch(repo, BRANCH) != added.commit

    fake.merge(opened.number, ANN)
    clock.advance(1)
    (merged,) = await source.pulls(repo, BRANCH)
    assert (merged.state, merged.ended_by) == (PullState.MERGED, str(ANN.id))
    assert merged.merged_commit == await source.head(repo)
    assert await source.touched_since(repo, base, merged.merged_commit, ["apps/a.yaml"])
