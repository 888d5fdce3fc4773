"""What `tocsin doctor` says of forges: what the token may, and who guards the base branch."""

import json

import httpx
import pytest

from tocsin_action.examining import examine
from tocsin_contracts.doctor import Condition
from tocsin_gitops.config import GitOps
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.credentials import tokens
from tocsin_kit.clock import SystemClock

PATHS = {
    "github": ("/repos/shop/gitops", "/repos/shop/gitops/branches/main"),
    "gitea": ("/repos/shop/gitops", "/repos/shop/gitops/branches/main"),
    "gitlab": ("/projects/shop%2Fgitops", "/projects/shop%2Fgitops/repository/branches/main"),
}
WRITES = {
    "github": {"push": True, "admin": False},
    "gitea": {"push": True, "admin": False},
    "gitlab": {"project_access": {"access_level": 30}, "group_access": None},
}
OWNS = {
    "github": {"push": True, "admin": True},
    "gitea": {"push": True, "admin": True},
    "gitlab": {"project_access": None, "group_access": {"access_level": 50}},
}
READS = {
    "github": {"push": False},
    "gitea": {"push": False},
    "gitlab": {"project_access": {"access_level": 20}},
}
EVERY_FORGE = pytest.mark.parametrize("kind", PATHS)


async def examined(kind, repository, branch, status=200):
    host = "forge.example"
    gitops = GitOps.model_validate(
        {
            "providers": [
                {"host": host, "type": kind, "token_env": "T", "api_base": f"https://{host}"}
            ],
            "repositories": [{"name": "shop/gitops", "host": host, "paths": ["**"]}],
        }
    )
    answers = dict(zip(PATHS[kind], (repository, branch), strict=True))
    asked = []

    def answer(request):
        asked.append(request.method)
        return httpx.Response(status, content=json.dumps(answers[request.url.raw_path.decode()]))

    def client(provider):
        ours = tokens(provider, {"T": "a-token"}, SystemClock(), writing=True)
        return ForgeClient(provider, ours, transport=httpx.MockTransport(answer))

    found = await examine(gitops, client)
    assert set(asked) == {"GET"}
    return found


@EVERY_FORGE
async def test_a_token_that_may_only_write_to_a_guarded_branch_is_well(kind):
    found = await examined(kind, {"permissions": WRITES[kind]}, {"protected": True})
    assert [one.condition for one in found] == [Condition.OK, Condition.OK]


@EVERY_FORGE
async def test_a_token_that_may_more_and_an_open_branch_are_warned_of(kind):
    found = await examined(kind, {"permissions": OWNS[kind]}, {"protected": False})
    assert [one.condition for one in found] == [Condition.WARNING, Condition.WARNING]
    assert "protect it" in found[1].do


@EVERY_FORGE
async def test_a_token_that_may_not_push_is_a_problem(kind):
    rights, _ = await examined(kind, {"permissions": READS[kind]}, {"protected": True})
    assert (rights.condition, rights.told) == (Condition.PROBLEM, "the token may not push")


@EVERY_FORGE
async def test_what_a_forge_does_not_say_is_unknown(kind):
    found = await examined(kind, {}, {})
    assert [one.condition for one in found] == [Condition.UNKNOWN, Condition.UNKNOWN]


@EVERY_FORGE
@pytest.mark.parametrize(
    ("status", "condition"), [(403, "problem"), (404, "problem"), (502, "unknown")]
)
async def test_a_forge_that_says_no_or_nothing_is_told(kind, status, condition):
    (found,) = await examined(kind, {}, {}, status)
    assert found.condition == condition
    assert "a-token" not in found.told


async def test_without_a_repository_elsewhere_all_is_well():
    (found,) = await examine(GitOps(), lambda _: None)
    assert found.condition is Condition.OK
