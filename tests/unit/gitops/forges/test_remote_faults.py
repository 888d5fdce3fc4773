import asyncio
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_gitops.forges import BranchTaken
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_testing.forges import remote_world
from tocsin_testing.forges.faults import FAULTS, ROWS
from tocsin_testing.forges.loose import Loose
from tocsin_testing.forges.remote_world import AFTER, BRANCH, KINDS, RemoteWorld

MARKER = "tocsin:run-1:again"
WAITS = {"429": 7, "403-rate": 60}
"""In seconds, as the host asks for."""

TRIES = 5
ONE_FILE = {"apps/api/a.yaml": AFTER["apps/api/a.yaml"]}


@pytest.fixture(scope="module")
def origin(tmp_path_factory) -> Loose:
    return remote_world.origin(tmp_path_factory.mktemp("origin") / "platform.git")


@pytest.fixture
def git(origin) -> Loose:
    return remote_world.fresh(origin)


async def open_it(world: RemoteWorld) -> None:
    await world.forge.open_pull(world.request(files=ONE_FILE))


async def add_to_it(world: RemoteWorld) -> None:
    opened = world.fake.pulls[0]
    first = world.fake.bare.stored(world.head)
    ours = first if first.parents == (world.main,) else world.fake.bare.stored(first.parents[0])
    await world.forge.add_commit(world.more(ours.sha), opened.number)


async def comment_on_it(world: RemoteWorld) -> None:
    await world.forge.comment(world.repository, 1, "It fires again.", MARKER)


ACTS = {"open": open_it, "add": add_to_it, "comment": comment_on_it}


def check_open(world: RemoteWorld) -> None:
    assert [pull.title for pull in world.fake.pulls] == [world.request().title]
    assert world.holds(world.head, world.main, ONE_FILE)


def check_add(world: RemoteWorld) -> None:
    head = world.fake.bare.stored(world.head)
    assert world.holds(head.parents[0], world.main, ONE_FILE)
    assert world.holds(head.sha, head.parents[0], {"apps/api/a.yaml": b"memory: 1Gi\n"})
    assert [pull.title for pull in world.fake.pulls] == ["Raise it more"]


def check_comment(world: RemoteWorld) -> None:
    assert [said.body.partition("\n")[0] for said in world.fake.said] == ["It fires again."]


CHECKS = {"open": check_open, "add": check_add, "comment": check_comment}


async def until_done(world: RemoteWorld, act: str) -> list[Exception]:
    errors: list[Exception] = []
    for _ in range(TRIES):
        try:
            await ACTS[act](world)
        except (TransientError, PermanentError) as error:
            errors.append(error)
        else:
            return errors
    return errors


def right(fault: str, error: Exception) -> bool:
    if fault == "422":
        return isinstance(error, PermanentError) and not isinstance(error, BranchTaken)
    wait = WAITS.get(fault, getattr(error, "retry_in", 0))
    return isinstance(error, TransientError) and error.retry_in == wait


@pytest.mark.parametrize("fault", ROWS)
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
async def test_whatever_fails_at_any_call_it_happens_once(git, kind, act, fault):
    ready = remote_world.world(kind, git)
    if act != "open":
        await open_it(ready)
    start, pulls, before = git.head(BRANCH), list(ready.fake.pulls), len(ready.wire.seen)
    await ACTS[act](ready)
    calls = len(ready.wire.seen) - before
    for position in range(calls):
        back(git, start)
        world = remote_world.world(kind, git)
        world.fake.pulls = [replace(pull, title=world.request().title) for pull in pulls]
        world.wire.position, world.wire.fault = position, FAULTS[fault]
        errors = await until_done(world, act)
        assert len(errors) <= 1, (position, errors)
        assert all(right(fault, error) for error in errors), (position, errors)
        CHECKS[act](world)


def back(git: Loose, start: str | None) -> None:
    """Put the branch back to where it was; what was made since stays as unreachable objects."""
    if git.head(BRANCH):
        git.drop(BRANCH)
    if start:
        git.move(BRANCH, start, None)


@pytest.mark.parametrize("act", ["open", "add"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
async def test_workers_that_write_at_once_make_one_of_everything(git, kind, act):
    first, second = remote_world.world(kind, git), remote_world.world(kind, git)
    second.fake = second.wire.fake = first.fake
    if act == "add":
        await open_it(first)
    errors = await asyncio.gather(until_done(first, act), until_done(second, act))
    assert [e for both in errors for e in both if not isinstance(e, TransientError)] == []
    CHECKS[act](first)


@given(data=st.data())
@settings(max_examples=10, deadline=None)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.value)
def test_whatever_row_of_faults_there_is_at_most_one_of_everything(origin, kind, data):
    rows = st.lists(st.sampled_from([None, *FAULTS]), min_size=10, max_size=40)
    world = remote_world.world(kind, remote_world.fresh(origin))
    faults = iter(data.draw(rows))

    def fail(request: object) -> None:
        fault = next(faults, None)
        world.wire.position = len(world.wire.seen) - 1 if fault else -1
        world.wire.fault = FAULTS[fault] if fault else world.wire.fault

    world.wire.before = fail
    asyncio.run(until_done(world, "open"))
    assert len(world.fake.pulls) <= 1
    assert not world.head or world.head == world.main or ours(world)
    world.wire.before = lambda request: None
    world.wire.position = -1
    assert asyncio.run(until_done(world, "open")) == []
    check_open(world)


def ours(world: RemoteWorld) -> bool:
    return world.holds(world.head, world.main, ONE_FILE)
