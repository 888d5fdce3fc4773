from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_gitops.hosts.failures import ConflictError
from tocsin_kit.errors import TransientError
from tocsin_testing.forges.faults import FAULTS, ROWS, timeout
from tocsin_testing.forges.github_world import FILE, GitHubWorld
from tocsin_testing.forges.hosting import BOT

TRIES = 5
NUMBERS = count()
FIRST, SECOND = b"memory: 512Mi\n", b"memory: 1Gi\n"


@dataclass(frozen=True)
class Opened:
    """A pull request that is there, put there without a request."""

    number: int
    head_branch: str
    commit: str


def prepared(world: GitHubWorld, branch: str) -> Opened:
    world.wire.position = -1
    request = world.request(head_branch=branch)
    world.bare.move(branch, request.parent_sha, None)
    commit = world.bare.push(branch, request.files, request.title + "\n")
    pull = world.fake.open(request.title, request.body, branch, "main", BOT)
    return Opened(pull.number, branch, commit)


Call = Callable[[GitHubWorld, Opened], Awaitable[Any]]


async def opens(world: GitHubWorld, opened: Opened):
    request = world.request(head_branch=f"{opened.head_branch}-2", files={FILE: SECOND})
    return await world.forge.open_pull(request)


async def adds(world: GitHubWorld, opened: Opened):
    request = world.request(
        parent_sha=opened.commit,
        head_branch=opened.head_branch,
        files={FILE: SECOND},
        title="More",
        body="More.\n",
    )
    return await world.forge.add_commit(request, opened.number)


async def comments(world: GitHubWorld, opened: Opened):
    return await world.forge.comment(world.repository, opened.number, "Verified.", "verified:r1")


LENGTHS = {opens: 10, adds: 11, comments: 2}
"""How many requests each call makes; who we are is asked once, which is a case of its own."""

WAITS = {"timeout": 5.0, "lost": 5.0, "409": 5.0, "429": 7.0, "403-rate": 60.0, "500": 5.0}
"""In seconds; a 422 is no reason to wait."""


async def first_error(world: GitHubWorld, call: Call, opened: Opened) -> Exception | None:
    """Call until it is done, with at most five tries; return what the first one met."""
    first = None
    for _ in range(TRIES):
        try:
            await call(world, opened)
        except (TransientError, ConflictError) as error:
            first = first or error
        else:
            return first
    raise AssertionError(f"not done after {TRIES} tries: {first!r}")


def says_what_to_do(error: Exception | None, fault: str) -> bool:
    if isinstance(error, TransientError):
        return error.retry_in == WAITS[fault]
    return isinstance(error, ConflictError) and fault == "422"


def ours(world: GitHubWorld, branch: str) -> list[str]:
    """The commits of a branch down to the base, the newest first."""
    found, commit = [], world.bare.head(branch)
    while commit != world.bare.head("main"):
        found.append(commit)
        (commit,) = world.bare.stored(commit).parents
    return found


def pulls_of(world: GitHubWorld, branch: str):
    return [pull for pull in world.fake.pulls if pull.head == branch]


@pytest.mark.parametrize("call", LENGTHS)
async def test_every_request_of_a_call_is_counted(call, tmp_path):
    world = GitHubWorld(tmp_path)
    await world.client.me(world.repository.name)
    opened = prepared(world, "tocsin/a")
    before = len(world.wire.seen)
    await call(world, opened)
    assert len(world.wire.seen) - before == LENGTHS[call]


@pytest.mark.parametrize("fault", ROWS)
@pytest.mark.parametrize("call", LENGTHS)
async def test_whichever_request_fails_there_is_one_of_everything_in_the_end(call, fault, tmp_path):
    world = GitHubWorld(tmp_path)
    await world.client.me(world.repository.name)
    for position in range(LENGTHS[call]):
        opened = prepared(world, f"tocsin/{position}")
        world.wire.position, world.wire.fault = len(world.wire.seen) + position, FAULTS[fault]
        error = await first_error(world, call, opened)

        assert says_what_to_do(error, fault), (position, error)
        branch = opened.head_branch + ("-2" if call is opens else "")
        (pull,) = pulls_of(world, branch)
        assert pull.title == ("More" if call is adds else "Raise the memory of api")
        assert len(ours(world, branch)) == (2 if call is adds else 1)
        assert world.holds(ours(world, branch)[0]) == (FIRST if call is comments else SECOND)
        assert len([one for one in world.fake.said if one.pull == pull.number]) == (
            call is comments
        )


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_comment_waits_until_it_is_known_who_we_are(fault, tmp_path):
    world = GitHubWorld(tmp_path)
    opened = prepared(world, "tocsin/a")
    world.wire.position, world.wire.fault = len(world.wire.seen), FAULTS[fault]
    error = await first_error(world, comments, opened)
    assert world.wire.seen[world.wire.position].url.path.endswith("/user")
    assert says_what_to_do(error, fault)
    assert len(world.fake.said) == 1


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> GitHubWorld:
    return GitHubWorld(tmp_path_factory.mktemp("shared"))


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10), st.sampled_from(sorted(FAULTS))), max_size=6))
@pytest.mark.parametrize("call", [opens, adds])
async def test_whatever_fails_how_often_there_is_one_of_everything_in_the_end(
    call, shared, failing
):
    opened = prepared(shared, f"tocsin/{next(NUMBERS)}")
    for position, fault in failing:
        shared.wire.position = len(shared.wire.seen) + position
        shared.wire.fault = FAULTS[fault]
        with suppress(TransientError, ConflictError):
            await call(shared, opened)
    shared.wire.position = -1
    await call(shared, opened)
    branch = opened.head_branch + ("-2" if call is opens else "")
    assert len(pulls_of(shared, branch)) == 1
    assert len(ours(shared, branch)) == (2 if call is adds else 1)
    assert shared.holds(ours(shared, branch)[0]) == SECOND


async def test_a_host_that_stays_away_leaves_nothing_half_done_that_matters(tmp_path):
    world = GitHubWorld(tmp_path)
    for position in range(LENGTHS[opens] - 2):
        world.wire.position, world.wire.fault = len(world.wire.seen) + position, timeout
        with pytest.raises(TransientError):
            await world.forge.open_pull(world.request())
    assert world.fake.pulls == []
    assert world.bare.text("for-each-ref", "--format=%(refname)") == "refs/heads/main"
