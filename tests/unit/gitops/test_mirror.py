"""Remote repositories are read through copies that git fetches from a real server."""

import asyncio
import base64
import os
import shutil
from pathlib import Path

import pytest
import yaml

from tocsin_gitops import secrets
from tocsin_gitops.config import load
from tocsin_gitops.fetching import Bounds, Origin
from tocsin_gitops.hosts import credentials
from tocsin_gitops.mirror import Mirrors
from tocsin_gitops.repositories import Repositories, repositories
from tocsin_kit.errors import PermanentError, TocsinError, TransientError
from tocsin_testing.fakes import FakeClock
from tocsin_testing.forges.bare import Bare
from tocsin_testing.forges.loose import Loose, loose
from tocsin_testing.git_http import GitServer, serving
from tocsin_testing.harness import until

TOKEN = "tok-0123456789-abcdefghij"
HOST = "git.acme.example"
NAME = "shop/platform"


class World:
    """One remote repository on a server, and gitops.yaml that names it."""

    def __init__(self, folder: Path, url: str, server: GitServer, remote: Bare) -> None:
        self.folder, self.url, self.server, self.remote = folder, url, server, remote
        self.clock = FakeClock()
        self.environment = {"ACME_TOKEN": TOKEN}
        self.allow()

    def allow(self, *, branch="main", host_type="gitea", name=NAME, base="", **provider):
        git_base = base or self.url
        of = {"host": HOST, "type": host_type, "git_base": git_base, "token_env": "ACME_TOKEN"}
        repo = {"name": name, "host": HOST, "branch": branch, "paths": ["**"]}
        file = self.folder / "gitops.yaml"
        file.write_text(yaml.safe_dump({"providers": [of | provider], "repositories": [repo]}))
        self.gitops = load(file)
        (self.repo,) = self.gitops.repositories

    def source(self, *, fresh=False) -> Repositories:
        return repositories(self.gitops, self.environment, self.clock, fresh=fresh)

    def mirrors(self, **bounds) -> Mirrors:
        (provider,) = self.gitops.remote_providers
        tokens = credentials.tokens(provider, self.environment, self.clock, writing=False)
        origins = {HOST: Origin(provider, tokens)}
        return Mirrors(origins, self.clock, bounds=Bounds(**bounds) if bounds else None)

    async def reached(self, condition) -> None:
        async def look() -> bool:
            return condition()

        await until(look, bool)

    async def refused(self) -> str:
        with pytest.raises(PermanentError) as error:
            await self.source().head(self.repo)
        said = str(error.value)
        assert TOKEN not in said
        assert HOST in said
        assert NAME in said
        return said


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    made = loose(tmp_path_factory.mktemp("origin") / "a.git")
    made.push("main", {"apps/a.yaml": b"a: 1\n"}, "Import\n")
    return made.git_dir


@pytest.fixture
def world(origin, tmp_path):
    remote = shutil.copytree(origin, tmp_path / "remote" / f"{NAME}.git")
    server = GitServer(tmp_path / "remote", TOKEN)
    with serving(server) as url:
        yield World(tmp_path, url, server, Loose(remote))


async def test_a_private_repository_is_read_with_the_token_of_its_provider(world):
    source = world.source()
    head = await source.head(world.repo)
    assert head == world.remote.head("main")
    assert {p: f.data for p, f in (await source.files(world.repo, head)).items()} == {
        "apps/a.yaml": b"a: 1\n"
    }
    assert await source.show(world.repo, head, "apps/a.yaml") == b"a: 1\n"
    assert [one.subject for one in await source.commits(world.repo, head)] == ["Import"]


async def test_the_copy_lies_below_mirrors_by_host_and_name(world):
    await world.source().head(world.repo)
    assert world.repo.git_dir == world.folder / ".tocsin/mirrors" / HOST / f"{NAME}.git"
    assert Bare(world.repo.git_dir).text("fsck", "--full", "--strict") == ""


@pytest.mark.parametrize(
    ("host_type", "user"), [("github", "x-access-token"), ("gitlab", "oauth2"), ("gitea", "tocsin")]
)
async def test_each_type_of_host_is_told_the_user_it_expects(world, host_type, user):
    world.allow(host_type=host_type)
    await world.source().head(world.repo)
    pairs = {base64.b64decode(given.removeprefix("Basic ")) for given in world.server.given}
    assert pairs == {f"{user}:{TOKEN}".encode()}


async def test_a_host_may_have_its_repositories_below_a_path(world):
    (world.folder / "remote/gitea").symlink_to(world.folder / "remote")
    world.allow(base=f"{world.url}/gitea")
    assert await world.source().head(world.repo) == world.remote.head("main")
    assert all(given.startswith("Basic ") for given in world.server.given)


async def test_a_proxy_may_lead_to_the_host(world):
    world.allow(base="http://127.0.0.1:9", proxy=world.url)
    assert await world.source().head(world.repo) == world.remote.head("main")
    assert all(f" http://127.0.0.1:9/{NAME}.git/" in asked for asked in world.server.asked)


async def test_a_public_repository_is_read_as_nobody(world):
    world.server.token, world.environment = "", {}
    assert await world.source().head(world.repo) == world.remote.head("main")
    assert set(world.server.given) == {""}


async def test_reading_prefers_the_token_that_only_reads(world):
    world.allow(read_token_env="ACME_READER")
    world.environment = {"ACME_READER": TOKEN, "ACME_TOKEN": "of-the-writer-alone"}
    assert await world.source().head(world.repo) == world.remote.head("main")


async def test_a_moved_branch_is_seen_after_a_few_seconds_and_at_once_when_fresh(world):
    source, fresh = world.source(), world.source(fresh=True)
    first = await source.head(world.repo)
    world.clock.advance(1)
    world.remote.push("main", {"apps/a.yaml": b"a: 2\n"})
    assert await source.head(world.repo) == first
    moved = await fresh.head(world.repo)
    assert moved == world.remote.head("main") != first
    assert await fresh.touched_since(world.repo, first, moved, ["apps/a.yaml", "b"]) == (
        "apps/a.yaml",
    )
    world.remote.push("main", {"apps/a.yaml": b"a: 3\n"})
    world.clock.advance(6)
    assert await source.head(world.repo) == world.remote.head("main")


async def test_many_questions_at_once_are_one_fetch(world):
    source = world.source()
    heads = await asyncio.gather(*(source.head(world.repo) for _ in range(5)))
    assert len(set(heads)) == 1
    assert world.server.fetches == 1


async def test_who_asks_fresh_never_gets_what_was_fetched_before(world):
    """A fetch that began before the question may have missed what it is about."""
    world.server.flows.clear()
    mirrors = world.mirrors()
    first = asyncio.create_task(mirrors.refresh(world.repo))
    await world.reached(lambda: len(world.server.asked) > 1)
    world.clock.advance(1)
    second = asyncio.create_task(mirrors.refresh(world.repo, fresh=True))
    await asyncio.sleep(0)
    world.server.flows.set()
    await asyncio.gather(first, second)
    assert world.server.fetches == 2


async def test_only_the_base_branch_and_our_own_branches_are_copied(world):
    for branch in ("tocsin/fix-1", "feature", "release"):
        world.remote.push(branch, {"b.yaml": b"b: 1\n"})
    source = world.source()
    ours = await source.branch(world.repo, "tocsin/fix-1")
    assert ours == world.remote.head("tocsin/fix-1")
    assert await source.branch(world.repo, "feature") is None
    world.remote.drop("tocsin/fix-1")
    world.clock.advance(6)
    assert await source.branch(world.repo, "tocsin/fix-1") is None


async def test_a_commit_from_before_a_rewritten_branch_makes_every_path_touched(world):
    """Nobody can tell what changed since, so a plan that was made on it is stale."""
    source = world.source()
    head = await source.head(world.repo)
    paths = ["b.yaml", "a.yaml"]
    assert await source.touched_since(world.repo, "9" * 40, head, paths) == ("a.yaml", "b.yaml")
    with pytest.raises(PermanentError, match="leads to the commit 999"):
        await source.files(world.repo, "9" * 40)


async def test_a_copy_that_another_machine_read_from_is_fetched_before_a_commit_is_read(world):
    head = world.remote.head("main")
    assert await world.source().show(world.repo, head, "apps/a.yaml") == b"a: 1\n"


@pytest.mark.parametrize("token", ["", "tok-wrong-wrong-wrong"])
async def test_a_wrong_token_names_the_variable_and_what_it_needs(world, token):
    world.environment = {"ACME_TOKEN": token}
    said = await world.refused()
    assert "ACME_TOKEN" in said
    assert "read:repository" in said
    assert "wrong-wrong" not in said


@pytest.mark.parametrize(("status", "why"), [(403, "may not be read"), (404, "is not there")])
async def test_a_refusal_says_what_to_do(world, status, why):
    world.server.refuses = status
    said = await world.refused()
    assert why in said
    assert "ACME_TOKEN" in said


async def test_a_repository_that_is_not_there_and_a_branch_that_is_not_there_are_told_apart(world):
    world.allow(branch="live")
    assert "has no branch 'live'" in await world.refused()
    world.remote.git_dir.rename(world.folder / "gone.git")
    assert "look at its name" in await world.refused()


async def test_a_host_in_trouble_may_be_asked_again(world):
    for status in (429, 500, 503):
        world.server.refuses = status
        with pytest.raises(TransientError, match=HOST):
            await world.source().head(world.repo)
    world.server.refuses = 0
    assert await world.source().head(world.repo) == world.remote.head("main")


@pytest.mark.parametrize(
    "said",
    ["Authentication failed", "hello\x0bfatal: Authentication failed", ".lock': File exists"],
)
async def test_what_a_host_says_is_never_taken_for_what_git_says(world, said):
    world.server.refuses, world.server.says = 500, said
    with pytest.raises(TransientError, match=HOST) as error:
        await world.source().head(world.repo)
    assert "lock" not in str(error.value)
    assert "Authentication" not in str(error.value)


async def test_a_host_that_is_away_may_be_asked_again(world):
    world.allow(base="http://127.0.0.1:9")
    with pytest.raises(TransientError, match=HOST):
        await world.source().head(world.repo)


async def test_a_redirect_is_refused_and_the_token_goes_nowhere_else(world, tmp_path):
    other = GitServer(tmp_path / "remote")
    with serving(other) as elsewhere:
        world.server.elsewhere = elsewhere
        assert "redirects are not followed" in await world.refused()
    assert other.asked == []


async def test_a_repository_that_is_too_big_is_refused_and_leaves_nothing(world):
    world.remote.push("main", {"big.yaml": os.urandom(300_000)})
    with pytest.raises(PermanentError, match="has more than 100000 bytes"):
        await world.mirrors(bytes_=100_000).refresh(world.repo)
    assert list(world.repo.git_dir.glob("objects/pack/*")) == []
    await world.mirrors().refresh(world.repo)


async def test_a_fetch_that_takes_too_long_is_ended_and_the_next_one_heals_it(world):
    world.server.flows.clear()
    with pytest.raises(TransientError, match=r"took over 0\.5 s"):
        await world.mirrors(seconds=0.5).refresh(world.repo)
    world.server.flows.set()
    for left in ("packed-refs.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_x"):
        (world.repo.git_dir / left).write_bytes(b"")
    await world.mirrors().refresh(world.repo)
    assert Bare(world.repo.git_dir).head("main") == world.remote.head("main")


async def test_who_stops_waiting_does_not_stop_a_first_clone(world):
    world.server.flows.clear()
    source = world.source()
    impatient = asyncio.create_task(source.head(world.repo))
    await world.reached(lambda: len(world.server.asked) > 1)
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient
    world.server.flows.set()
    assert await source.head(world.repo) == world.remote.head("main")
    assert world.server.fetches == 1


async def test_copies_are_fetched_before_anybody_asks(world):
    async with world.source() as source:
        await world.reached((world.repo.git_dir / "fetched-at").exists)
        assert await source.head(world.repo) == world.remote.head("main")
    assert world.server.fetches == 1


async def test_a_stop_ends_what_is_being_fetched(world):
    world.server.flows.clear()
    async with world.source():
        await world.reached(lambda: len(world.server.asked) > 1)
    world.server.flows.set()
    assert await world.source().head(world.repo) == world.remote.head("main")


async def test_a_start_without_the_host_is_a_warning_and_no_end(world):
    world.server.refuses = 503
    async with world.source() as source:
        await world.reached(lambda: all(task.done() for task in source._warming))


async def test_many_packs_become_one(world, monkeypatch):
    monkeypatch.setattr("tocsin_gitops.fetching.MOST_PACKS", 1)
    source = world.source(fresh=True)
    for number in range(2):
        world.remote.push("main", {"a.yaml": f"a: {number}\n".encode()})
        world.clock.advance(1)
        await source.head(world.repo)
    assert len(list(world.repo.git_dir.glob("objects/pack/*.pack"))) == 1
    assert len(await source.commits(world.repo, world.remote.head("main"))) == 3


async def test_a_folder_that_cannot_be_written_is_named(world):
    (world.folder / ".tocsin").write_text("a file")
    with pytest.raises(PermanentError, match="mend `mirrors`"):
        await world.source().head(world.repo)


def test_the_values_of_tokens_are_known_to_be_secret(world):
    world.environment["OTHER"] = "of no provider"
    found = secrets.known(world.gitops, world.environment)
    assert found == {TOKEN, base64.b64encode(f"tocsin:{TOKEN}".encode()).decode()}


async def test_a_pull_request_is_asked_of_the_host_and_not_of_the_copy(world):
    with pytest.raises(TocsinError, match=HOST):
        await world.source().pulls(world.repo, "tocsin/fix-1")
