"""An independent client and our own classes read what the other wrote: the fake is no private one.

Its calls block, so they run in threads while the fake is served on loopback.
"""

import asyncio
import base64
from collections.abc import Callable, Iterator
from typing import Any

import gitlab
import pytest
from gitlab.v4.objects import Project

from tocsin_gitops.forges import BranchTaken
from tocsin_gitops.providers import HostType
from tocsin_gitops.pulls import PullState
from tocsin_testing.forges import remote_world
from tocsin_testing.forges.hosting import ANN
from tocsin_testing.forges.remote_world import AFTER, BRANCH, NAME, RemoteWorld
from tocsin_testing.forges.web import serving

STARTED = "tocsin/started-by-hand-0000000000"


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    return remote_world.origin(tmp_path_factory.mktemp("origin") / "platform.git")


@pytest.fixture
def world(origin) -> RemoteWorld:
    return remote_world.world(HostType.GITLAB, remote_world.fresh(origin))


@pytest.fixture
def project(world) -> Iterator[Project]:
    with serving(world.fake) as url, gitlab.Gitlab(url, private_token="ann-token") as client:
        yield client.projects.get(NAME)


async def outside(call: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(call)


async def test_the_client_reads_what_we_wrote(world, project):
    opened = await world.forge.open_pull(world.request())
    await world.forge.comment(world.repository, opened.number, "It fires again.", "tocsin:run-1")
    more = await world.forge.add_commit(world.more(opened.commit), opened.number)
    (shown,) = await outside(lambda: project.mergerequests.list(source_branch=BRANCH))
    assert (shown.iid, shown.state, shown.sha) == (opened.number, "opened", more.commit)
    assert (shown.title, shown.description) == (more.title, more.body)
    notes = await outside(shown.notes.list)
    assert [note.body.splitlines()[0] for note in notes] == ["It fires again."]
    file = await outside(lambda: project.files.get("run.yaml", ref=BRANCH))
    assert file.decode() == AFTER["run.yaml"]
    assert file.execute_filemode
    commit = await outside(lambda: project.commits.get(more.commit))
    assert commit.parent_ids == [opened.commit]
    assert [one["new_path"] for one in commit.diff()] == ["apps/api/a.yaml"]


async def test_we_read_what_the_client_wrote(world, project):
    data = base64.b64encode(AFTER["run.yaml"]).decode()
    action = {"action": "update", "file_path": "run.yaml", "content": data, "encoding": "base64"}
    made = {"branch": STARTED, "start_sha": world.main, "commit_message": "By hand"}
    commit = await outside(lambda: project.commits.create({**made, "actions": [action]}))
    wanted = {"source_branch": STARTED, "target_branch": "main", "title": "By hand"}
    theirs = await outside(lambda: project.mergerequests.create(wanted))
    await outside(lambda: theirs.notes.create({"body": "Please look."}))
    (seen,) = await world.pulls.pulls(world.repository, STARTED)
    assert (seen.number, seen.title, seen.commit) == (theirs.iid, "By hand", commit.id)
    assert await world.pulls.touched(world.repository, theirs.iid) == ("run.yaml",)
    (said,) = await world.pulls.comments(world.repository, theirs.iid, seen.opened_at)
    assert (said.body, said.author) == ("Please look.", str(ANN.id))
    with pytest.raises(BranchTaken):
        await world.forge.open_pull(world.request(head_branch=STARTED))
    theirs.state_event = "close"
    await outside(theirs.save)
    (closed,) = await world.pulls.pulls(world.repository, STARTED)
    assert (closed.state, closed.ended_by) == (PullState.CLOSED, str(ANN.id))


async def test_the_client_is_refused_as_we_are(world, project):
    await world.forge.open_pull(world.request())
    again = {"source_branch": BRANCH, "target_branch": "main", "title": "Again"}
    with pytest.raises(gitlab.GitlabCreateError, match="already exists") as refused:
        await outside(lambda: project.mergerequests.create(again))
    assert refused.value.response_code == 409
