import asyncio

import httpx
import pytest

from tocsin_gitops.forges import BranchTaken
from tocsin_gitops.forges.github import GitHubForge
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.providers import HostType, Provider
from tocsin_gitops.pulls import PullState
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_testing.forges.bare import Entry
from tocsin_testing.forges.faults import answering
from tocsin_testing.forges.github_world import BRANCH, FILE, PROVIDER, WRITER, GitHubWorld
from tocsin_testing.forges.hosting import ANN, BOT
from tocsin_testing.forges.web import serving

SECOND = {"title": "Raise it further", "body": "Still killed.\n\nTocsin-Plan: def\n"}
NEW = b"memory: 512Mi\n"


@pytest.fixture
def world(tmp_path) -> GitHubWorld:
    return GitHubWorld(tmp_path)


def second(world: GitHubWorld, parent: str):
    return world.request(parent_sha=parent, files={FILE: b"memory: 1Gi\n"}, **SECOND)


def writes(world: GitHubWorld) -> list[str]:
    paths = (one.partition(" ")[2] for one in world.fake.writes)
    return [path.removeprefix("repos/shop/platform/") for path in paths]


async def test_a_pull_request_holds_the_approved_bytes_and_nothing_else(world):
    opened = await world.forge.open_pull(world.request())
    assert world.bare.changed(world.request().parent_sha, opened.commit) == {FILE: "M"}
    assert world.holds(opened.commit) == NEW
    assert world.bare.head(BRANCH) == opened.commit
    assert world.bare.stored(opened.commit).parents == (world.bare.head("main"),)
    assert world.bare.text("fsck", "--strict") == ""


async def test_it_says_what_was_approved_and_where_it_is(world):
    opened = await world.forge.open_pull(world.request())
    assert (opened.title, opened.body) == ("Raise the memory of api", world.request().body)
    assert (opened.head_branch, opened.base_branch) == (BRANCH, "main")
    assert (opened.number, opened.state) == (1, PullState.OPEN)
    assert opened.url == "https://github.example/shop/platform/pull/1"


async def test_bytes_that_are_no_text_and_new_files_arrive_whole(world):
    data = bytes(range(256)) + "ö\r\n".encode()
    files = {FILE: data, "new/deep/b.md": b"", "grüße ö.yaml": b"a: 1"}
    opened = await world.forge.open_pull(world.request(files=files))
    assert {path: world.holds(opened.commit, path) for path in files} == files


async def test_the_same_request_is_the_same_commit_at_any_time(world, tmp_path):
    opened = await world.forge.open_pull(world.request())
    (tmp_path / "other").mkdir()
    other = GitHubWorld(tmp_path / "other")
    other.clock.advance(1_000_000)
    assert (await other.forge.open_pull(other.request())).commit == opened.commit


async def test_a_second_try_opens_nothing_new(world):
    opened = await world.forge.open_pull(world.request())
    before = len(world.fake.pulls)
    assert await world.forge.open_pull(world.request()) == opened
    assert len(world.fake.pulls) == before == 1


@pytest.mark.parametrize("mode", ["100755", "100644"])
async def test_a_file_keeps_its_mode(world, mode):
    run = Entry(mode, "blob", world.bare.blob(b"a: 1\n"), "bin/run.yaml")
    parent = _on_main(world, run)
    request = world.request(parent_sha=parent, files={run.path: b"a: 2\n"})
    opened = await world.forge.open_pull(request)
    assert world.bare.entry(opened.commit, run.path).mode == mode


def _on_main(world: GitHubWorld, *entries: Entry) -> str:
    main = world.bare.head("main")
    tree = world.bare.tree(world.bare.stored(main).tree, entries)
    commit = world.bare.commit_tree(tree, [main], "More\n")
    world.bare.move("main", commit, main)
    return commit


@pytest.mark.parametrize(("mode", "type_"), [("120000", "blob"), ("160000", "commit")])
@pytest.mark.parametrize("path", ["odd", "odd/below.yaml"])
async def test_a_link_or_a_submodule_is_never_written_to_or_through(world, mode, type_, path):
    oid = world.bare.blob(b"run.yaml") if type_ == "blob" else world.bare.head("main")
    parent = _on_main(world, Entry(mode, type_, oid, "odd"))
    with pytest.raises(PermanentError, match="odd"):
        await world.forge.open_pull(world.request(parent_sha=parent, files={path: b"x"}))
    assert world.fake.writes == []


async def test_a_branch_of_somebody_else_is_left_alone(world):
    theirs = world.bare.commit_tree(
        world.bare.stored(world.bare.head("main")).tree, [world.bare.head("main")], "Mine\n"
    )
    world.bare.move(BRANCH, theirs, None)
    with pytest.raises(BranchTaken) as taken:
        await world.forge.open_pull(world.request())
    assert taken.value.commit == theirs
    assert world.bare.head(BRANCH) == theirs
    assert world.fake.pulls == []


@pytest.mark.parametrize("branch", ["main", "release", "nottocsin/x", "Tocsin/x"])
async def test_no_branch_but_ours_is_ever_written(world, branch):
    request = world.request(head_branch=branch)
    with pytest.raises(PermanentError, match="ours"):
        await world.forge.open_pull(request)
    world.fake.open("Theirs", "", branch, "main", ANN)
    if branch != "main":
        world.bare.move(branch, world.bare.head("main"), None)
    with pytest.raises(PermanentError, match="ours"):
        await world.forge.add_commit(request, 1)
    assert writes(world) == []


async def test_d4_a_pull_request_that_a_person_closed_stays_closed(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.close(opened.number, ANN, and_drop=True)
    for _ in range(3):
        again = await world.forge.open_pull(world.request())
        assert (again.number, again.state) == (opened.number, PullState.CLOSED)
    with pytest.raises(BranchTaken):
        await world.forge.open_pull(world.request(title="The same in other words"))
    assert len(world.fake.pulls) == 1
    assert world.bare.head(BRANCH) is None


async def test_a_merged_one_is_not_opened_again(world):
    request = world.request()
    opened = await world.forge.open_pull(request)
    merged = world.fake.merge(opened.number, ANN)
    again = await world.forge.open_pull(request)
    assert (again.state, again.merged_commit) == (PullState.MERGED, merged)
    assert len(world.fake.pulls) == 1


async def test_d5_one_that_lists_do_not_show_yet_is_found_in_the_end(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.lag = 2
    assert await world.forge.open_pull(world.request()) == opened
    assert len(world.fake.pulls) == 1


async def test_one_that_no_list_shows_is_asked_for_later(world):
    await world.forge.open_pull(world.request())
    world.fake.lag = 9
    with pytest.raises(TransientError, match="not listed yet"):
        await world.forge.open_pull(world.request())
    world.fake.lag = 0
    assert (await world.forge.open_pull(world.request())).number == 1
    assert len(world.fake.pulls) == 1


async def test_one_from_a_fork_with_the_same_branch_is_not_ours(world):
    fork = world.fake.open("Evil", "", BRANCH, "main", ANN)
    fork.of_fork, fork.last = True, world.bare.head("main")
    assert (await world.forge.open_pull(world.request())).number == 2


async def test_one_to_another_base_is_not_ours(world):
    world.bare.move("release", world.bare.head("main"), None)
    opened = await world.forge.open_pull(world.request())
    other = await world.forge.open_pull(world.request(base_branch="release"))
    assert (opened.number, other.number) == (1, 2)
    assert opened.commit == other.commit


async def test_a_commit_is_added_on_top_of_the_approved_one(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.asked.clear()
    shown = await world.forge.add_commit(second(world, opened.commit), opened.number)
    assert world.bare.head(BRANCH) == shown.commit
    assert world.bare.stored(shown.commit).parents == (opened.commit,)
    assert world.holds(shown.commit) == b"memory: 1Gi\n"
    assert (shown.number, shown.title, shown.body) == (1, SECOND["title"], SECOND["body"])
    assert not any(one.body and one.body.get("force") for one in world.fake.asked)


async def test_a_commit_is_added_once(world):
    opened = await world.forge.open_pull(world.request())
    request = second(world, opened.commit)
    shown = await world.forge.add_commit(request, opened.number)
    world.fake.asked.clear()
    assert await world.forge.add_commit(request, opened.number) == shown
    assert [one for one in writes(world) if not one.startswith("git/")] == []
    assert [one for one in writes(world) if "refs" in one] == []


async def test_a_commit_of_a_person_is_never_built_over(world):
    opened = await world.forge.open_pull(world.request())
    theirs = world.bare.push(BRANCH, {FILE: b"memory: 768Mi\n"}, "Rather this\n")
    with pytest.raises(BranchTaken) as taken:
        await world.forge.add_commit(second(world, opened.commit), opened.number)
    assert taken.value.commit == theirs == world.bare.head(BRANCH)


async def test_a_commit_that_a_person_took_back_does_not_come_back(world):
    opened = await world.forge.open_pull(world.request())
    main = world.bare.head("main")
    world.bare.move(BRANCH, main, opened.commit)
    with pytest.raises(BranchTaken):
        await world.forge.add_commit(second(world, opened.commit), opened.number)
    assert world.bare.head(BRANCH) == main


async def test_a_person_who_commits_at_the_last_moment_is_first(world):
    opened = await world.forge.open_pull(world.request())
    request = second(world, opened.commit)

    def overtake(sent):
        if sent.method == "PATCH" and "/git/refs/" in sent.url.path:
            world.bare.push(BRANCH, {FILE: b"memory: 768Mi\n"})

    world.wire.before = overtake
    with pytest.raises(BranchTaken):
        await world.forge.add_commit(request, opened.number)
    assert world.holds(world.bare.head(BRANCH)) == b"memory: 768Mi\n"


@pytest.mark.parametrize("merged", [True, False])
async def test_nothing_is_added_to_what_has_ended(world, merged):
    opened = await world.forge.open_pull(world.request())
    if merged:
        world.fake.merge(opened.number, ANN)
    else:
        world.fake.close(opened.number, ANN)
    with pytest.raises(PermanentError, match="nothing is added"):
        await world.forge.add_commit(second(world, opened.commit), opened.number)
    assert world.bare.head(BRANCH) == opened.commit


async def test_a_commit_that_was_added_and_merged_is_told_though_its_branch_is_gone(world):
    """The answer was lost, and a person was fast."""
    opened = await world.forge.open_pull(world.request())
    request = second(world, opened.commit)
    added = await world.forge.add_commit(request, opened.number)
    world.fake.merge(opened.number, ANN)
    world.bare.drop(BRANCH)
    again = await world.forge.add_commit(request, opened.number)
    assert (again.commit, again.state) == (added.commit, PullState.MERGED)


async def test_nothing_is_added_to_a_pull_request_that_goes_elsewhere_by_now(world):
    opened = await world.forge.open_pull(world.request())
    world.bare.move("release", world.bare.head("main"), None)
    world.fake.pulls[0].base = "release"
    with pytest.raises(PermanentError, match="goes to 'release'"):
        await world.forge.add_commit(second(world, opened.commit), opened.number)
    assert world.bare.head(BRANCH) == opened.commit


async def test_a_branch_that_is_gone_is_not_made_again(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.close(opened.number, ANN, and_drop=True)
    with pytest.raises(BranchTaken):
        await world.forge.add_commit(second(world, opened.commit), opened.number)
    assert world.bare.head(BRANCH) is None


async def test_nothing_is_added_to_a_pull_request_of_another_branch(world):
    opened = await world.forge.open_pull(world.request())
    with pytest.raises(PermanentError, match="pull request 9"):
        await world.forge.add_commit(second(world, opened.commit), 9)


async def test_a_comment_is_made_once_for_its_marker(world):
    await world.forge.open_pull(world.request())
    said = await world.forge.comment(world.repository, 1, "Verified.", "verified:r1")
    assert await world.forge.comment(world.repository, 1, "In other words.", "verified:r1") == said
    await world.forge.comment(world.repository, 1, "More.", "verified:r2")
    assert [one.body for one in world.fake.said] == [
        "Verified.\n\n<!-- verified:r1 -->",
        "More.\n\n<!-- verified:r2 -->",
    ]
    assert (said.author, said.id) == (str(BOT.id), "101")


async def test_a_marker_that_somebody_else_wrote_does_not_count(world):
    await world.forge.open_pull(world.request())
    world.fake.say(1, ANN, "Hush.\n\n<!-- verified:r1 -->")
    await world.forge.comment(world.repository, 1, "Verified.", "verified:r1")
    assert [one.author for one in world.fake.said] == [ANN, BOT]


async def test_a_marker_that_a_comment_of_ours_only_quotes_does_not_count(world):
    await world.forge.open_pull(world.request())
    quoting = "The log says <!-- verified:r1 --> here."
    await world.forge.comment(world.repository, 1, quoting, "seen:r1")
    await world.forge.comment(world.repository, 1, "Verified.", "verified:r1")
    assert len(world.fake.said) == 2


async def test_a_marker_is_found_on_any_page(world):
    await world.forge.open_pull(world.request())
    for number in range(230):
        world.fake.say(1, ANN, f"Comment {number}")
    said = await world.forge.comment(world.repository, 1, "Verified.", "verified:r1")
    assert await world.forge.comment(world.repository, 1, "Verified.", "verified:r1") == said


@pytest.mark.parametrize("marker", ["", "a--b", "a>b", "a\nb"])
async def test_a_marker_that_would_be_seen_is_refused(world, marker):
    with pytest.raises(PermanentError, match="marker"):
        await world.forge.comment(world.repository, 1, "Verified.", marker)


async def test_workers_that_write_at_once_arrive_at_the_same(world):
    forges = [
        GitHubForge(ForgeClient(PROVIDER, WRITER, clock=world.clock, transport=world.wire))
        for _ in range(4)
    ]
    request = world.request()
    opened = await asyncio.gather(*(forge.open_pull(request) for forge in forges))
    assert {one.number for one in opened} == {1}
    more = second(world, opened[0].commit)
    shown = await asyncio.gather(*(forge.add_commit(more, 1) for forge in forges))
    assert {one.commit for one in shown} == {world.bare.head(BRANCH)}
    assert len(world.fake.pulls) == 1
    assert world.bare.text("rev-list", "--count", f"main..{BRANCH}") == "2"


def fails_at(world: GitHubWorld, what: str, fault) -> None:
    """Let the first request of this method and last part of its path fail."""

    def arriving(sent):
        if f"{sent.method} {sent.url.path.rpartition('/')[2]}" == what:
            world.wire.before = lambda _: None
            world.wire.fault, world.wire.position = fault, len(world.wire.seen) - 1

    world.wire.before = arriving


async def test_bytes_that_the_forge_changed_are_noticed(world):
    other = world.bare.blob(b"memory: 513Mi\n")
    stored = httpx.Response(201, json={"sha": other, "url": "https://x.example"})
    fails_at(world, "POST blobs", lambda _: stored)
    with pytest.raises(PermanentError, match="other bytes than were approved"):
        await world.forge.open_pull(world.request())
    assert world.bare.head(BRANCH) is None


async def test_a_branch_that_github_does_not_see_yet_is_waited_for(world):
    said = answering(422, "Validation Failed", errors=[{"field": "head", "code": "invalid"}])
    fails_at(world, "POST pulls", said)
    with pytest.raises(TransientError, match="the branch is new"):
        await world.forge.open_pull(world.request())
    assert (await world.forge.open_pull(world.request())).number == 1


async def test_a_branch_that_is_there_but_cannot_be_read_yet_is_waited_for(world):
    fails_at(world, "POST refs", answering(422, "Reference already exists"))
    with pytest.raises(TransientError, match="cannot be read yet"):
        await world.forge.open_pull(world.request())
    assert (await world.forge.open_pull(world.request())).number == 1


async def test_a_rule_of_the_repository_is_told_in_its_own_words(world):
    fails_at(world, "POST refs", answering(422, "Repository rule violations found: signed only"))
    with pytest.raises(PermanentError, match="signed only"):
        await world.forge.open_pull(world.request())


async def test_it_works_over_a_real_connection(world):
    with serving(world.fake) as address:
        base = f"{address}{world.fake.prefix}"
        provider = Provider(host="github.example", type=HostType.GITHUB, api_base=base)
        forge = GitHubForge(ForgeClient(provider, WRITER))
        opened = await forge.open_pull(world.request())
        await forge.comment(world.repository, opened.number, "Verified.", "verified:r1")
    assert world.bare.head(BRANCH) == opened.commit
    assert len(world.fake.said) == 1


async def test_a_token_that_only_reads_is_named(tmp_path):
    world = GitHubWorld(tmp_path)
    world.wire.fault = answering(403, "Resource not accessible by personal access token")
    world.wire.position = 3
    with pytest.raises(PermanentError, match="GITHUB_TOKEN needs contents: write"):
        await world.forge.open_pull(world.request())
