from datetime import timedelta

import pytest

from tocsin_gitops.pulls import PullState
from tocsin_testing.build import NOW
from tocsin_testing.forges.github_world import BRANCH, FILE, GitHubWorld
from tocsin_testing.forges.hosting import ANN, BOT, READER


@pytest.fixture
def world(tmp_path) -> GitHubWorld:
    world = GitHubWorld(tmp_path)
    for branch in (BRANCH, "feature"):
        world.bare.move(branch, world.bare.head("main"), None)
        world.bare.push(branch, {FILE: b"memory: 512Mi\n", f"{branch[:3]}.md": b"x"})
    return world


async def test_every_pull_request_of_a_branch_is_read_the_newest_first(world):
    for title in ("first", "second", "third"):
        pull = world.fake.open(title, "", BRANCH, "main", BOT)
        world.clock.advance(60)
        if title != "third":
            world.fake.close(pull.number, ANN)
    world.fake.open("another", "", "feature", "main", ANN)
    found = await world.pulls.pulls(world.repository, BRANCH)
    assert [pull.title for pull in found] == ["third", "second", "first"]
    assert [pull.state for pull in found] == [PullState.OPEN, PullState.CLOSED, PullState.CLOSED]
    assert [pull.commit for pull in found] == [world.bare.head(BRANCH)] * 3


async def test_when_and_as_what_it_was_merged_is_read(world):
    pull = world.fake.open("Ours", "", BRANCH, "main", BOT)
    world.clock.advance(3600)
    merged = world.fake.merge(pull.number, ANN)
    (found,) = await world.pulls.pulls(world.repository, BRANCH)
    assert (found.state, found.merged_commit) == (PullState.MERGED, merged)
    assert found.ended_at == NOW + timedelta(hours=1)
    assert found.opened_at < found.ended_at


async def test_a_closed_one_has_merged_nothing(world):
    world.fake.close(world.fake.open("Ours", "", BRANCH, "main", BOT).number, ANN)
    (found,) = await world.pulls.pulls(world.repository, BRANCH)
    assert (found.state, found.merged_commit) == (PullState.CLOSED, "")


async def test_one_from_a_fork_is_not_from_the_branch(world):
    fork = world.fake.open("Evil", "", BRANCH, "main", ANN)
    fork.of_fork = True
    assert await world.pulls.pulls(world.repository, BRANCH) == ()


async def test_the_open_ones_to_the_base_are_read_and_those_of_forks_too(world):
    world.bare.move("release", world.bare.head("main"), None)
    world.fake.open("ours", "", BRANCH, "main", BOT)
    world.fake.open("fork", "", "feature", "main", ANN).of_fork = True
    world.fake.open("elsewhere", "", "feature", "release", ANN)
    world.fake.close(world.fake.open("closed", "", "feature", "main", ANN).number, ANN)
    found = await world.pulls.open_pulls(world.repository)
    assert [pull.title for pull in found] == ["fork", "ours"]


async def test_at_most_a_hundred_open_ones_are_read(world):
    for number in range(130):
        world.fake.open(str(number), "", "feature", "main", ANN).of_fork = True
    assert len(await world.pulls.open_pulls(world.repository)) == 100


async def test_the_paths_that_one_touches_are_read(world):
    world.fake.open("ours", "", BRANCH, "main", BOT)
    assert await world.pulls.touched(world.repository, 1) == (FILE, "toc.md")


async def test_at_most_three_hundred_paths_are_read(world):
    world.bare.push(BRANCH, {f"many/{number}.md": b"x" for number in range(340)})
    world.fake.open("big", "", BRANCH, "main", BOT)
    assert len(await world.pulls.touched(world.repository, 1)) == 300


async def test_comments_since_a_time_are_read_the_oldest_first(world):
    world.fake.open("ours", "", BRANCH, "main", BOT)
    for number in range(250):
        world.fake.say(1, ANN if number % 2 else READER, str(number))
        world.clock.advance(1)
    since = NOW + timedelta(seconds=20)
    found = await world.pulls.comments(world.repository, 1, since)
    assert [one.body for one in found] == [str(number) for number in range(20, 250)]
    assert (found[1].author, found[1].at) == (str(ANN.id), NOW + timedelta(seconds=21))
    assert found[1].url


async def test_reading_writes_nothing(world):
    world.fake.open("ours", "", BRANCH, "main", BOT)
    await world.pulls.pulls(world.repository, BRANCH)
    await world.pulls.open_pulls(world.repository)
    await world.pulls.touched(world.repository, 1)
    await world.pulls.comments(world.repository, 1, NOW)
    assert world.fake.writes == []
