"""What is sent to GitHub, and what its fake answers, is what GitHub's own description allows."""

import copy
import json
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from openapi_schema_validator import OAS30Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4

from tocsin_gitops.config import Repository
from tocsin_gitops.forges import BranchTaken
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.github import GitHubPulls
from tocsin_gitops.hosts.github_app import WRITE, AppKey, AppTokens
from tocsin_gitops.pulls import PullState
from tocsin_kit.errors import PermanentError
from tocsin_testing.fakes import FakeClock
from tocsin_testing.forges.github import APP
from tocsin_testing.forges.github_answers import DESCRIPTION
from tocsin_testing.forges.github_world import FILE, PROVIDER, WRITER, GitHubWorld

EXAMPLES = json.loads(
    (Path(__file__).parent / "samples/forges/github-examples.json").read_text(encoding="utf-8")
)
LONG_AGO = datetime(2008, 1, 1, tzinfo=UTC)
PREFIX = "/api/v3"

UNDESCRIBED = {
    ("GET", "/user"): "the description that the tests hold has no operation of users",
    ("GET", "/users/tocsin-app[bot]"): "as above",
    ("GET", "/repos/shop/platform/pulls/1/files"): "it is not in it, but for its `diff-entry`",
}
"""Requests that cannot be compared with the description, and why."""

_DOCUMENT = Resource.from_contents(DESCRIPTION.document, default_specification=DRAFT4)
_REGISTRY = Registry().with_resource("github", _DOCUMENT)


def _here(part):
    """Let references lead into the document, from wherever they are."""
    if isinstance(part, list):
        return [_here(one) for one in part]
    if not isinstance(part, dict):
        return part
    return {
        key: f"github{value}" if key == "$ref" and isinstance(value, str) else _here(value)
        for key, value in part.items()
    }


def _closed(schema):
    """Forbid what a schema does not name, for a misspelt field is silently ignored."""
    schema = DESCRIPTION.resolved(copy.deepcopy(schema))
    if "properties" in schema:
        schema["additionalProperties"] = False
        schema["properties"] = {key: _closed(one) for key, one in schema["properties"].items()}
    if "items" in schema:
        schema["items"] = _closed(schema["items"])
    return schema


def _problems(schema, content) -> list[str]:
    validator = OAS30Validator(_here(schema), registry=_REGISTRY)
    return [f"{list(e.path)}: {e.message[:200]}" for e in validator.iter_errors(content)]


def _schema(part):
    content = DESCRIPTION.resolved(part).get("content", {})
    return content.get("application/json", {}).get("schema")


def _path(request: httpx.Request) -> str:
    return request.url.path.removeprefix(PREFIX)


def wrong_in_request(request: httpx.Request) -> list[str]:
    if (request.method, _path(request)) in UNDESCRIBED:
        return []
    operation = DESCRIPTION.operation(request.method, _path(request))
    if operation is None:
        return [f"no operation {request.method} {_path(request)}"]
    known = {DESCRIPTION.resolved(one)["name"] for one in operation.get("parameters", ())}
    wrong = [f"no parameter {name}" for name in request.url.params if name not in known]
    if request.content:
        schema = _schema(operation["requestBody"])
        wrong += _problems(_closed(schema), json.loads(request.content))
    return wrong


def wrong_in_answer(answer: httpx.Response) -> list[str]:
    request = answer.request
    if (request.method, _path(request)) in UNDESCRIBED:
        return []
    operation = DESCRIPTION.operation(request.method, _path(request))
    described = (operation or {}).get("responses", {}).get(str(answer.status_code))
    if described is None:
        return [f"{answer.status_code} is no answer to {request.method} {_path(request)}"]
    return _problems(_schema(described), answer.json())


async def everything(world: GitHubWorld) -> None:
    """Do all that is ever done, with what goes wrong on the way."""
    repository, request = world.repository, world.request()
    opened = await world.forge.open_pull(request)
    world.fake.lag = 2
    await world.forge.open_pull(request)
    with pytest.raises(BranchTaken):
        await world.forge.open_pull(world.request(title="Another"))
    world.bare.move("tocsin/taken", world.bare.head("main"), None)
    with pytest.raises(BranchTaken):
        await world.forge.open_pull(world.request(head_branch="tocsin/taken"))
    with pytest.raises(PermanentError):
        await world.forge.open_pull(
            world.request(head_branch="tocsin/nowhere", base_branch="nowhere")
        )
    with pytest.raises(PermanentError):
        await world.forge.open_pull(world.request(parent_sha="0" * 40))
    more = world.request(parent_sha=opened.commit, files={FILE: b"memory: 1Gi\n"}, title="More")

    def overtake(sent):
        if sent.method == "PATCH" and "/git/refs/" in sent.url.path:
            world.bare.push(more.head_branch, {FILE: b"memory: 768Mi\n"})

    world.wire.before = overtake
    with pytest.raises(BranchTaken):
        await world.forge.add_commit(more, opened.number)
    world.wire.before = lambda _: None
    there = world.bare.head(more.head_branch)
    further = world.request(parent_sha=there, files={FILE: b"memory: 1Gi\n"}, title="More")
    await world.forge.add_commit(further, opened.number)
    await world.forge.comment(repository, opened.number, "Verified.", "verified:r1")
    await world.pulls.open_pulls(repository)
    await world.pulls.touched(repository, opened.number)
    await world.pulls.comments(repository, opened.number, LONG_AGO)


async def test_every_request_and_every_answer_is_as_github_describes_it(tmp_path):
    world = GitHubWorld(tmp_path)
    await everything(world)
    assert [wrong for one in world.wire.seen for wrong in wrong_in_request(one)] == []
    assert [wrong for one in world.wire.heard for wrong in wrong_in_answer(one)] == []


async def test_an_app_asks_for_its_tokens_as_github_describes_it(tmp_path):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    world = GitHubWorld(tmp_path)
    world.fake.public_key = key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()
    app = AppKey(APP, "APP_KEY", private, WRITE, world.clock)
    asking = ForgeClient(PROVIDER, app, clock=world.clock, transport=world.wire)
    world.write_as(AppTokens(asking, app))
    await everything(world)
    assert [wrong for one in world.wire.seen for wrong in wrong_in_request(one)] == []
    assert [wrong for one in world.wire.heard for wrong in wrong_in_answer(one)] == []


async def test_only_what_is_listed_cannot_be_compared(tmp_path):
    world = GitHubWorld(tmp_path)
    await everything(world)
    asked = {(one.method, _path(one)) for one in world.wire.seen}
    missing = {one for one in asked if DESCRIPTION.operation(*one) is None}
    assert missing <= set(UNDESCRIBED)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/repos/a/b/pulls", {"title": "t", "head": "x", "base": "main", "text": "misspelt"}),
        ("/repos/a/b/pulls", {"title": "t", "head": "x"}),
        ("/repos/a/b/git/blobs", {"content": 7}),
        ("/repos/a/b/git/trees", {"tree": [{"path": "a", "mode": "777"}]}),
        ("/repos/a/b/git/blob", {"content": "x"}),
    ],
)
def test_a_wrong_request_would_be_noticed(path, body):
    assert wrong_in_request(httpx.Request("POST", f"https://x{PREFIX}{path}", json=body))


def example(request: httpx.Request) -> httpx.Response:
    """Answer with GitHub's own example, but for the second page of a list."""
    path = request.url.path.removeprefix(PREFIX).replace("/octocat/Hello-World", "/{owner}/{repo}")
    for name, content in EXAMPLES.items():
        method, template, status = name.split()
        wanted = template.replace("{issue_number}", "1347")
        if (method.upper(), wanted) == (request.method, path):
            return httpx.Response(int(status), json=content)
    return httpx.Response(404, json={"message": f"no example of {request.method} {path}"})


@pytest.fixture
def reader() -> GitHubPulls:
    transport = httpx.MockTransport(example)
    return GitHubPulls(ForgeClient(PROVIDER, WRITER, clock=FakeClock(), transport=transport))


OCTOCAT = Repository(name="octocat/Hello-World", host=PROVIDER.host, branch="master", paths=("**",))


async def test_the_pull_request_of_githubs_own_example_is_read(reader):
    (pull,) = await reader.pulls(OCTOCAT, "new-topic")
    assert (pull.number, pull.title) == (1347, "Amazing new feature")
    assert pull.state is PullState.MERGED
    assert pull.commit == "6dcb09b5b57875f334f61aebed695e2e4193db5e"
    assert pull.merged_commit == "e5bd3914e2e596debea16f433f57875b5b90bcd6"
    assert pull.url == "https://github.com/octocat/Hello-World/pull/1347"


async def test_the_comment_of_githubs_own_example_is_read(reader):
    (said,) = await reader.comments(OCTOCAT, 1347, LONG_AGO)
    assert (said.id, said.author, said.body) == ("1", "1", "Me too")
    assert said.at == datetime(2011, 4, 14, 16, 0, 49, tzinfo=UTC)


def test_the_examples_are_of_operations_that_are_described():
    for name in EXAMPLES:
        method, template, _ = name.split()
        assert method in DESCRIPTION.document["paths"][template]
