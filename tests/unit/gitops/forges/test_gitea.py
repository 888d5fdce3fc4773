import json
from datetime import timedelta
from functools import cache
from pathlib import Path

import httpx
import jsonschema
import pytest

from tocsin_gitops.providers import HostType
from tocsin_gitops.pulls import PullState
from tocsin_kit.errors import PermanentError
from tocsin_testing.build import NOW
from tocsin_testing.forges import remote_world
from tocsin_testing.forges.hosting import ANN, BOT
from tocsin_testing.forges.remote_world import BRANCH, RemoteWorld
from tocsin_testing.forges.web import handle

OK = 200
MODELS = Path(__file__).with_name("gitea-1.27.3-models.schema.json")
SENT = {
    ("POST", "branches"): "CreateBranchRepoOption",
    ("POST", "contents"): "ChangeFilesOptions",
    ("POST", "pulls"): "CreatePullRequestOption",
    ("PATCH", "pulls"): "EditPullRequestOption",
    ("POST", "comments"): "CreateIssueCommentOption",
}
READ = {
    "branches": "Branch",
    "commits": "Commit",
    "contents": "ContentsResponse",
    "pulls": "PullRequest",
    "comments": "Comment",
    "user": "User",
}
"""The answers of files and of what a pull request touches have no schema here; the client that is
tested apart reads them."""


@cache
def validator(model: str) -> jsonschema.Draft202012Validator:
    document = json.loads(MODELS.read_bytes())
    strict = {**document["$defs"][model], "additionalProperties": False}
    return jsonschema.Draft202012Validator({**document, **strict})


def kind(request: httpx.Request) -> str:
    """What a request is about: the word of its path that is no name, number, branch or file."""
    words = request.url.path.removeprefix("/api/v1/").split("/")
    last = words[-1]
    return last if last in ("comments", "files", "user") else words[4 if words[3] == "git" else 3]


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    return remote_world.origin(tmp_path_factory.mktemp("origin") / "platform.git")


@pytest.fixture
def world(origin) -> RemoteWorld:
    return remote_world.world(HostType.GITEA, remote_world.fresh(origin))


async def everything(world: RemoteWorld) -> None:
    opened = await world.forge.open_pull(world.request())
    await world.forge.add_commit(world.more(opened.commit), opened.number)
    await world.forge.comment(world.repository, opened.number, "It fires again.", "tocsin:run-1")
    await world.forge.comment(world.repository, opened.number, "It stopped.", "tocsin:run-2")
    await world.pulls.touched(world.repository, opened.number)
    await world.pulls.open_pulls(world.repository)


async def test_every_body_that_is_sent_is_what_gitea_describes(world):
    await everything(world)
    sent = {}
    for request in world.wire.seen:
        if request.method != "GET":
            key = request.method, kind(request)
            sent[key] = json.loads(request.content)
            validator(SENT[key]).validate(sent[key])
    assert set(sent) == set(SENT)


async def test_what_the_fake_answers_is_what_gitea_describes(world):
    await everything(world)
    asked = {r.url.raw_path.decode(): r for r in world.wire.seen if r.method == "GET"}
    seen = set()
    for target, request in asked.items():
        status, _, body = handle(world.fake, "GET", target, request.headers, b"")
        model = READ.get(kind(request))
        if status != OK or not model:
            continue
        content = json.loads(body)
        for one in content if isinstance(content, list) else [content]:
            validator(model).validate(one)
            seen.add(model)
    assert seen == set(READ.values())


async def test_a_commit_is_dated_like_its_parent(world):
    opened = await world.forge.open_pull(world.request())
    git = world.fake.bare
    assert git.stored(opened.commit).at == git.stored(world.main).at


async def test_each_file_is_tied_to_what_it_was(world):
    await world.forge.open_pull(world.request())
    (sent,) = [r for r in world.wire.seen if r.method == "POST" and r.url.path.endswith("contents")]
    known = world.fake.bare.entry(world.main, "run.yaml").oid
    files = {file["path"]: file for file in json.loads(sent.content)["files"]}
    assert (files["run.yaml"]["operation"], files["run.yaml"]["sha"]) == ("update", known)
    assert files["new/b.md"]["operation"] == "create"


async def test_a_pull_request_is_read_with_how_it_ended(world):
    opened = await world.forge.open_pull(world.request())
    merged_commit = world.fake.merge(opened.number, ANN)
    (merged,) = await world.pulls.pulls(world.repository, BRANCH)
    assert (merged.state, merged.ended_at, merged.ended_by) == (PullState.MERGED, NOW, str(ANN.id))
    assert (merged.commit, merged.merged_commit) == (opened.commit, merged_commit)
    world.fake.open("Again", "", BRANCH, "main", BOT)
    world.fake.close(2, ANN, and_drop=True)
    closed, _ = await world.pulls.pulls(world.repository, BRANCH)
    assert (closed.number, closed.state, closed.ended_at) == (2, PullState.CLOSED, NOW)
    assert (closed.head_branch, closed.commit) == (BRANCH, opened.commit)


async def test_one_branch_is_found_among_many_on_short_pages(world):
    world.fake.most_a_page = 7
    opened = await world.forge.open_pull(world.request())
    for number in range(30):
        world.fake.open(f"Theirs {number}", "", f"theirs-{number}", "main", ANN)
    found = await world.pulls.pulls(world.repository, BRANCH)
    assert [pull.number for pull in found] == [opened.number]
    assert len(await world.pulls.open_pulls(world.repository)) == 31


async def test_a_fork_and_another_base_are_told_apart(world):
    world.fake.bare.push(BRANCH, {"x.yaml": b"x\n"})
    world.fake.open("Fork", "", BRANCH, "main", ANN).of_fork = True
    world.fake.open("Other base", "", "theirs", "release", ANN)
    assert await world.pulls.pulls(world.repository, BRANCH) == ()
    assert [pull.title for pull in await world.pulls.open_pulls(world.repository)] == ["Fork"]


async def test_the_paths_that_a_pull_request_touches_are_told(world):
    opened = await world.forge.open_pull(world.request())
    world.fake.bare.push("main", {"other.yaml": b"o: 2\n"})
    touched = await world.pulls.touched(world.repository, opened.number)
    assert touched == ("apps/api/a.yaml", "new/b.md", "run.yaml")


async def test_comments_are_told_since_a_time(world):
    await world.forge.open_pull(world.request())
    world.fake.say(1, ANN, "Before.")
    world.clock.advance(60)
    since = world.clock.now()
    world.fake.say(1, ANN, "Why?")
    said = await world.pulls.comments(world.repository, 1, since)
    assert [(one.body, one.author, one.at) for one in said] == [("Why?", str(ANN.id), since)]
    assert said[0].url.endswith(f"/pulls/1#issuecomment-{said[0].id}")
    assert await world.pulls.comments(world.repository, 1, since + timedelta(hours=1)) == ()


async def test_a_folder_is_never_overwritten_by_a_file(world):
    with pytest.raises(PermanentError, match="plain file"):
        await world.forge.open_pull(world.request(files={"apps/api": b"a: 1\n"}))
    assert world.head == ""
