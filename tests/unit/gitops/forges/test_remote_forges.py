import pytest

from tocsin_gitops.forges import BranchTaken
from tocsin_gitops.pulls import PullState
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_testing.forges import remote_world
from tocsin_testing.forges.bare import Entry
from tocsin_testing.forges.hosting import ANN, BOT
from tocsin_testing.forges.loose import Loose
from tocsin_testing.forges.remote_world import (
    AFTER,
    BODY,
    BRANCH,
    KINDS,
    NEXT_PLAN,
    PLAN,
    RemoteWorld,
)

MARKER = "tocsin:run-1:again"


@pytest.fixture(scope="module")
def origin(tmp_path_factory) -> Loose:
    return remote_world.origin(tmp_path_factory.mktemp("origin") / "platform.git")


@pytest.fixture
def git(origin) -> Loose:
    return remote_world.fresh(origin)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.value)
def world(request, git) -> RemoteWorld:
    return remote_world.world(request.param, git)


async def test_a_pull_request_is_one_commit_of_the_approved_bytes_on_the_approved_parent(world):
    main = world.main
    pull = await world.forge.open_pull(world.request())
    commit = world.head
    assert world.holds(commit, main, AFTER)
    assert world.fake.bare.entry(commit, "run.yaml").mode == "100755"
    assert world.fake.bare.stored(commit).message == f"Raise the memory of payments-api\n\n{BODY}"
    assert world.fake.bare.stored(commit).author == "Tocsin"
    assert (pull.commit, pull.state, pull.head_branch) == (commit, PullState.OPEN, BRANCH)
    assert (pull.base_branch, pull.title, pull.body) == ("main", world.request().title, BODY)
    assert world.main == main


async def test_the_same_request_leads_to_the_same_pull_request(world):
    first = await world.forge.open_pull(world.request())
    assert await world.forge.open_pull(world.request()) == first
    assert len(world.fake.pulls) == 1


async def test_the_commit_is_on_the_approved_parent_though_the_base_moved_on(world):
    request = world.request()
    world.fake.bare.push("main", {"other.yaml": b"o: 2\n"})
    pull = await world.forge.open_pull(request)
    assert world.holds(pull.commit, request.parent_sha, AFTER)


@pytest.mark.parametrize("files", [{"other.yaml": b"o: 3\n"}, AFTER], ids=["others", "same bytes"])
async def test_a_branch_of_somebody_else_is_taken_and_stays_as_it_is(world, files):
    world.fake.bare.move(BRANCH, world.main, None)
    theirs = world.fake.bare.push(BRANCH, files)
    with pytest.raises(BranchTaken) as taken:
        await world.forge.open_pull(world.request())
    assert taken.value.commit == theirs == world.head
    assert world.fake.pulls == []


async def test_a_commit_that_changes_one_file_more_is_not_ours(world):
    await world.forge.open_pull(world.request())
    git = world.fake.bare
    ours = git.stored(git.head(BRANCH))
    more = git.tree(ours.sha, [Entry("100644", "blob", git.blob(b"x"), "x.yaml")])
    forged = git.commit_tree(more, ours.parents, ours.message)
    git.move(BRANCH, forged, ours.sha)
    with pytest.raises(BranchTaken):
        await world.forge.open_pull(world.request())


async def test_a_branch_left_at_its_parent_by_a_crash_is_used(world):
    world.fake.bare.move(BRANCH, world.main, None)
    pull = await world.forge.open_pull(world.request())
    assert world.holds(pull.commit, world.main, AFTER)


async def test_another_plan_on_the_same_branch_is_refused(world):
    first = await world.forge.open_pull(world.request())
    with pytest.raises(BranchTaken):
        await world.forge.open_pull(world.request(body=BODY.replace(PLAN, NEXT_PLAN)))
    assert world.head == first.commit


@pytest.mark.parametrize("branch", ["main", "release", "tocsin-x", "other/tocsin/x"])
async def test_no_branch_but_ours_is_ever_written(world, branch):
    with pytest.raises(PermanentError, match="none of ours"):
        await world.forge.open_pull(world.request(head_branch=branch))
    with pytest.raises(PermanentError, match="none of ours"):
        await world.forge.add_commit(world.request(head_branch=branch), 1)
    assert world.wire.seen == []


async def test_a_link_is_not_written(world):
    with pytest.raises(PermanentError, match=r"link\.yaml"):
        await world.forge.open_pull(world.request(files={"link.yaml": b"a: 1\n"}))
    assert world.head == ""


async def test_d4_a_branch_deleted_after_closing_is_no_new_pull_request(world):
    """create-pull-request #926: each run made a fresh one."""
    first = await world.forge.open_pull(world.request())
    world.fake.close(first.number, ANN, and_drop=True)
    for _ in range(3):
        again = await world.forge.open_pull(world.request())
        assert (again.number, again.state) == (first.number, PullState.CLOSED)
    assert len(world.fake.pulls) == 1
    assert world.head == ""


async def test_a_pull_request_of_our_branch_to_another_base_is_not_the_one(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.open("Theirs", "", BRANCH, "release", ANN)
    assert await world.forge.open_pull(world.request()) == opened


async def test_d5_an_empty_list_and_then_already_exists_is_still_one_pull_request(world):
    """changesets/action #396: the list came back empty, to create then failed."""
    first = await world.forge.open_pull(world.request())
    world.fake.lag = 3
    assert await world.forge.open_pull(world.request()) == first
    assert len(world.fake.pulls) == 1


async def test_a_list_that_lags_for_long_asks_for_patience(world):
    await world.forge.open_pull(world.request())
    world.fake.lag = 30
    with pytest.raises(TransientError):
        await world.forge.open_pull(world.request())
    assert len(world.fake.pulls) == 1


async def test_a_commit_is_added_to_an_open_pull_request_and_shown(world):
    opened = await world.forge.open_pull(world.request())
    more = world.more(opened.commit)
    pull = await world.forge.add_commit(more, opened.number)
    assert world.holds(pull.commit, opened.commit, more.files)
    assert pull.commit == world.head
    assert (pull.number, pull.title, pull.body) == (opened.number, more.title, more.body)
    assert await world.forge.add_commit(more, opened.number) == pull
    assert world.head == pull.commit


async def test_a_commit_of_a_person_in_between_is_left_alone(world):
    opened = await world.forge.open_pull(world.request())
    theirs = world.fake.bare.push(BRANCH, {"other.yaml": b"o: 9\n"})
    with pytest.raises(BranchTaken):
        await world.forge.add_commit(world.more(opened.commit), opened.number)
    assert world.head == theirs


@pytest.mark.parametrize("file", ["other.yaml", "apps/api/a.yaml"])
async def test_somebody_faster_than_our_look_is_seen_by_the_look_after(world, file):
    """There is no compare-and-swap: what landed on another parent is never called ours."""
    opened = await world.forge.open_pull(world.request())
    world.fake.before_commit = lambda: world.fake.bare.push(BRANCH, {file: b"o: 9\n"})
    with pytest.raises(BranchTaken):
        await world.forge.add_commit(world.more(opened.commit), opened.number)
    world.fake.before_commit = None
    with pytest.raises(BranchTaken):
        await world.forge.add_commit(world.more(opened.commit), opened.number)
    assert world.fake.pulls[0].title == opened.title


@pytest.mark.parametrize("how", ["close", "merge"])
async def test_nothing_is_added_to_a_pull_request_that_ended(world, how):
    opened = await world.forge.open_pull(world.request())
    getattr(world.fake, how)(opened.number, ANN)
    with pytest.raises(PermanentError, match="nothing is added"):
        await world.forge.add_commit(world.more(opened.commit), opened.number)
    assert world.head == opened.commit


async def test_nothing_is_added_through_another_pull_request_or_a_fork(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.open("Theirs", "", "main", "release", ANN)
    fork = world.fake.open("Fork", "", BRANCH, "main", ANN)
    fork.of_fork = True
    for number in (2, 3):
        with pytest.raises(PermanentError):
            await world.forge.add_commit(world.more(opened.commit), number)
    assert world.head == opened.commit


async def test_nothing_is_added_to_a_pull_request_that_goes_elsewhere_by_now(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.pulls[0].base = "release"
    with pytest.raises(PermanentError, match="goes to 'release'"):
        await world.forge.add_commit(world.more(opened.commit), opened.number)
    assert world.head == opened.commit


async def test_a_comment_is_written_once_for_each_marker(world):
    await world.forge.open_pull(world.request())
    first = await world.forge.comment(world.repository, 1, "It fires again.", MARKER)
    again = await world.forge.comment(world.repository, 1, "Other words.", MARKER)
    other = await world.forge.comment(world.repository, 1, "It stopped.", "tocsin:run-2")
    assert again == first
    assert first.body.startswith("It fires again.")
    assert first.author == str(BOT.id)
    assert first.url.startswith("https://")
    assert [said.id for said in world.fake.said] == [int(first.id), int(other.id)]


async def test_a_marker_that_somebody_else_wrote_or_that_is_quoted_does_not_count(world):
    await world.forge.open_pull(world.request())
    quoted = f"> <!-- {MARKER} -->\n\nThat was yours."
    world.fake.say(1, ANN, f"<!-- {MARKER} -->")
    await world.forge.comment(world.repository, 1, quoted, "tocsin:other")
    said = await world.forge.comment(world.repository, 1, "It fires again.", MARKER)
    assert said.body.startswith("It fires again.")
    assert len(world.fake.said) == 3


@pytest.mark.parametrize("marker", ["", "a -->", "a\nb", "a--b"])
async def test_a_marker_that_would_show_is_refused(world, marker):
    with pytest.raises(PermanentError, match="no marker"):
        await world.forge.comment(world.repository, 1, "Words.", marker)


async def test_a_token_that_may_only_read_is_refused_and_named(git):
    for kind in KINDS:
        world = remote_world.world(kind, git, token="reader-token")
        with pytest.raises(PermanentError, match="GIT_TOKEN"):
            await world.forge.open_pull(world.request())
        assert git.head(BRANCH) is None
