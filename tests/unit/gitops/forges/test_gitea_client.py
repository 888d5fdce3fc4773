"""An independent client and our own classes read what the other wrote: the fake is no private one.

The client takes seconds to import, so it is imported by the tests that use it.
"""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tocsin_gitops.forges import BranchTaken
from tocsin_gitops.providers import HostType
from tocsin_gitops.pulls import PullState
from tocsin_testing.forges import remote_world
from tocsin_testing.forges.hosting import ANN
from tocsin_testing.forges.remote_world import AFTER, BRANCH, NAME, RemoteWorld
from tocsin_testing.forges.web import serving

pytestmark = pytest.mark.e2e

OWNER, REPO = NAME.split("/")
STARTED = "tocsin/started-by-hand-0000000000"


@pytest.fixture(scope="module")
def gitea() -> Any:
    return pytest.importorskip("gitea_api_client")


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    return remote_world.origin(tmp_path_factory.mktemp("origin") / "platform.git")


@pytest.fixture
def world(origin) -> RemoteWorld:
    return remote_world.world(HostType.GITEA, remote_world.fresh(origin))


@pytest.fixture
async def client(world, gitea) -> AsyncIterator[Any]:
    name = "AuthorizationHeaderToken"
    with serving(world.fake) as url:
        settings = gitea.Configuration(
            host=f"{url}/api/v1", api_key={name: "ann-token"}, api_key_prefix={name: "token"}
        )
        async with gitea.ApiClient(settings) as client:
            yield client


async def test_the_client_reads_what_we_wrote(world, gitea, client):
    repository, issues = gitea.RepositoryApi(client), gitea.IssueApi(client)
    opened = await world.forge.open_pull(world.request())
    await world.forge.comment(world.repository, opened.number, "It fires again.", "tocsin:run-1")
    more = await world.forge.add_commit(world.more(opened.commit), opened.number)
    (shown,) = await repository.repo_list_pull_requests(OWNER, REPO, state="open")
    assert (shown.number, shown.head.ref, shown.head.sha) == (opened.number, BRANCH, more.commit)
    assert (shown.title, shown.body) == (more.title, more.body)
    (said,) = await issues.issue_get_comments(OWNER, REPO, opened.number)
    assert said.body.splitlines()[0] == "It fires again."
    file = await repository.repo_get_contents(OWNER, REPO, "run.yaml", ref=BRANCH)
    assert base64.b64decode(file.content) == AFTER["run.yaml"]
    commit = await repository.repo_get_single_commit(OWNER, REPO, more.commit)
    assert [parent.sha for parent in commit.parents] == [opened.commit]
    assert [one.filename for one in commit.files] == ["apps/api/a.yaml"]
    touched = await repository.repo_get_pull_request_files(OWNER, REPO, opened.number)
    assert {one.filename for one in touched} == set(AFTER)


async def test_we_read_what_the_client_wrote(world, gitea, client):
    repository, issues = gitea.RepositoryApi(client), gitea.IssueApi(client)
    data = base64.b64encode(AFTER["run.yaml"]).decode()
    known = await repository.repo_get_contents(OWNER, REPO, "run.yaml")
    change = {"operation": "update", "path": "run.yaml", "content": data, "sha": known.sha}
    who = gitea.Identity(name="Ann", email="ann@shop.example")
    options = gitea.ChangeFilesOptions(
        branch="main",
        new_branch=STARTED,
        message="By hand",
        author=who,
        committer=who,
        dates=gitea.CommitDateOptions(author="2026-01-06T10:00:00Z"),
        files=[gitea.ChangeFileOperation(**change)],
    )
    made = await repository.repo_change_files(OWNER, REPO, options)
    wanted = gitea.CreatePullRequestOption(head=STARTED, base="main", title="By hand")
    theirs = await repository.repo_create_pull_request(OWNER, REPO, wanted)
    words = gitea.CreateIssueCommentOption(body="Please look.")
    await issues.issue_create_comment(OWNER, REPO, theirs.number, words)
    (seen,) = await world.pulls.pulls(world.repository, STARTED)
    assert (seen.number, seen.title, seen.commit) == (theirs.number, "By hand", made.commit.sha)
    assert await world.pulls.touched(world.repository, theirs.number) == ("run.yaml",)
    (said,) = await world.pulls.comments(world.repository, theirs.number, seen.opened_at)
    assert (said.body, said.author) == ("Please look.", str(ANN.id))
    with pytest.raises(BranchTaken):
        await world.forge.open_pull(world.request(head_branch=STARTED))
    closing = gitea.EditPullRequestOption(state="closed")
    await repository.repo_edit_pull_request(OWNER, REPO, theirs.number, closing)
    (closed,) = await world.pulls.pulls(world.repository, STARTED)
    assert closed.state is PullState.CLOSED


async def test_the_client_is_refused_as_we_are(world, gitea, client):
    await world.forge.open_pull(world.request())
    again = gitea.CreatePullRequestOption(head=BRANCH, base="main", title="Again")
    with pytest.raises(gitea.ApiException, match="already exists") as refused:
        await gitea.RepositoryApi(client).repo_create_pull_request(OWNER, REPO, again)
    assert refused.value.status == 409
