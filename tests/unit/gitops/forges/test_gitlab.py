from datetime import timedelta

import pytest

from tocsin_gitops.providers import HostType
from tocsin_gitops.pulls import PullState
from tocsin_kit.errors import PermanentError
from tocsin_testing.build import NOW
from tocsin_testing.forges import remote_world
from tocsin_testing.forges.hosting import ANN, BOT
from tocsin_testing.forges.remote_world import BRANCH, RemoteWorld


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    return remote_world.origin(tmp_path_factory.mktemp("origin") / "platform.git")


@pytest.fixture
def world(origin) -> RemoteWorld:
    return remote_world.world(HostType.GITLAB, remote_world.fresh(origin))


async def test_the_branch_and_its_commit_are_made_in_one_request(world):
    await world.forge.open_pull(world.request())
    writes = [asked.url.path for asked in world.wire.seen if asked.method != "GET"]
    project = "/api/v4/projects/shop/platform"
    assert writes == [f"{project}/repository/commits", f"{project}/merge_requests"]


async def test_a_project_is_named_by_its_whole_path(world):
    await world.pulls.open_pulls(world.repository)
    assert world.wire.seen[0].url.raw_path.startswith(b"/api/v4/projects/shop%2Fplatform/")


@pytest.mark.parametrize(
    "command", ["/merge", "  /close", "\t/Approve", "\r/merge", "/\rmerge", "\x0b/merge"]
)
async def test_no_line_of_ours_is_a_quick_action(world, command):
    text = f"It said:\n{command}\n/etc/hosts"
    await world.forge.open_pull(world.request(body=f"{text}\n\nTocsin-Plan: {'a' * 64}\n"))
    said = await world.forge.comment(world.repository, 1, f"{command}\n{text}", "tocsin:run-1")
    shown = [world.fake.pulls[0].body, said.body]
    lines = [line.lstrip() for text in shown for line in text.replace("\r", "").split("\n")]
    assert [line for line in lines if line.startswith("/")] == []
    assert "\\/etc/hosts" in said.body


async def test_a_merge_request_is_read_with_how_it_ended(world):
    opened = await world.forge.open_pull(world.request())
    (merging,) = await world.pulls.pulls(world.repository, BRANCH)
    assert (merging.state, merging.ended_at, merging.ended_by) == (PullState.OPEN, None, "")
    merged_commit = world.fake.merge(opened.number, ANN)
    (merged,) = await world.pulls.pulls(world.repository, BRANCH)
    assert (merged.state, merged.ended_at, merged.ended_by) == (PullState.MERGED, NOW, str(ANN.id))
    assert (merged.commit, merged.merged_commit) == (opened.commit, merged_commit)
    world.fake.open("Again", "", BRANCH, "main", BOT)
    world.fake.close(2, ANN)
    closed, _ = await world.pulls.pulls(world.repository, BRANCH)
    assert (closed.number, closed.state) == (2, PullState.CLOSED)
    assert (closed.ended_by, closed.merged_commit) == (str(ANN.id), "")


async def test_a_merge_request_of_a_fork_is_not_of_the_branch_of_the_same_name(world):
    world.fake.bare.push(BRANCH, {"x.yaml": b"x\n"})
    world.fake.open("Fork", "", BRANCH, "main", ANN).of_fork = True
    assert await world.pulls.pulls(world.repository, BRANCH) == ()
    assert [pull.title for pull in await world.pulls.open_pulls(world.repository)] == ["Fork"]


async def test_many_forks_with_a_branch_of_the_same_name_do_not_hide_ours(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.close(opened.number, ANN)
    for number in range(250):
        world.fake.open(f"Fork {number}", "", BRANCH, "main", ANN).of_fork = True
    (ours,) = await world.pulls.pulls(world.repository, BRANCH)
    assert (ours.number, ours.state) == (opened.number, PullState.CLOSED)
    assert (await world.forge.open_pull(world.request())).number == opened.number


async def test_the_paths_that_a_merge_request_touches_are_told(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.bare.push("main", {"other.yaml": b"o: 2\n"})
    touched = await world.pulls.touched(world.repository, opened.number)
    assert touched == ("apps/api/a.yaml", "new/b.md", "run.yaml")


async def test_comments_are_told_since_a_time_and_without_what_gitlab_says_itself(world):
    await world.forge.open_pull(world.request())
    world.fake.say(1, ANN, "Before.")
    world.clock.advance(60)
    since = world.clock.now()
    world.fake.say(1, ANN, "Why?")
    world.fake.say(1, ANN, "added 1 commit", system=True)
    world.clock.advance(60)
    world.fake.say(1, BOT, "Because.")
    said = await world.pulls.comments(world.repository, 1, since)
    assert [(one.body, one.author) for one in said] == [
        ("Why?", str(ANN.id)),
        ("Because.", str(BOT.id)),
    ]
    assert said[0].at == since
    assert said[0].url.endswith(f"/merge_requests/1#note_{said[0].id}")
    assert await world.pulls.comments(world.repository, 1, since + timedelta(hours=1)) == ()


async def test_more_comments_than_a_page_are_all_looked_at(world):
    await world.forge.open_pull(world.request())
    first = await world.forge.comment(world.repository, 1, "First.", "tocsin:first")
    for number in range(250):
        world.fake.say(1, ANN, f"{number}")
    assert await world.forge.comment(world.repository, 1, "First.", "tocsin:first") == first


async def test_a_file_is_found_in_a_folder_of_many(world):
    files = {f"many/{number:03}.yaml": b"a: 1\n" for number in range(230)}
    world.fake.bare.push("main", files)
    pull = await world.forge.open_pull(world.request(files={"many/229.yaml": b"a: 2\n"}))
    assert world.holds(pull.commit, world.main, {"many/229.yaml": b"a: 2\n"})


async def test_a_parent_that_gitlab_does_not_know_is_refused_in_its_words(world):
    request = world.request(parent_sha="f" * 40)
    with pytest.raises(PermanentError, match="Cannot find start_sha"):
        await world.forge.open_pull(request)
