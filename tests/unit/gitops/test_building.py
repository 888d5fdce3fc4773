"""From gitops.yaml and the environment to what reads and writes at each host."""

import pytest

from tocsin_gitops import forges, hosts
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.hosts import credentials
from tocsin_gitops.providers import Provider
from tocsin_kit.errors import PermanentError
from tocsin_testing.fakes import FakeClock

ACME = Provider(host="git.acme.example", type="gitea", token_env="ACME_TOKEN")
TOKENS = {"GITHUB_TOKEN": "t-github", "GITLAB_TOKEN": "t-gitlab", "ACME_TOKEN": "t-acme"}
CLOCK = FakeClock()


def allowing(*names: str) -> GitOps:
    repositories = tuple(Repository(name="shop/gitops", host=h, paths=("**",)) for h in names)
    apart = tuple(r.model_copy(update={"name": f"shop/{n}"}) for n, r in enumerate(repositories))
    return GitOps(providers=(ACME,), repositories=apart)


EVERY = ("local", "github.com", "gitlab.com", "git.acme.example")


@pytest.mark.parametrize("build", [hosts.build, forges.build], ids=["hosts", "forges"])
def test_each_host_in_use_gets_what_speaks_its_api(build):
    found = build(allowing(*EVERY), TOKENS, CLOCK)
    named = {host: one.name for host, one in found.items()}
    types = ("local", "github", "gitlab", "gitea")
    assert named == dict(zip(EVERY, types, strict=True))


@pytest.mark.parametrize(
    ("host", "variable"),
    [
        ("github.com", "GITHUB_TOKEN"),
        ("gitlab.com", "GITLAB_TOKEN"),
        ("git.acme.example", "ACME_TOKEN"),
    ],
)
def test_who_writes_needs_a_token_and_is_told_which(host, variable):
    with pytest.raises(PermanentError, match=rf"{host}: .*{variable}"):
        forges.build(allowing(host), {}, CLOCK)
    assert hosts.build(allowing(host), {}, CLOCK).keys() == {"local", host}


@pytest.mark.parametrize(
    ("environment", "token"),
    [
        ({"GITHUB_TOKEN": "writes"}, "writes"),
        ({"GITHUB_TOKEN": "writes", "GITHUB_READ_TOKEN": "reads"}, "reads"),
        ({"GITHUB_READ_TOKEN": "reads"}, "reads"),
        ({}, ""),
    ],
)
async def test_who_reads_takes_the_weakest_token_there_is(environment, token):
    provider = GitOps().provider("github.com")
    found = credentials.tokens(provider, environment, CLOCK, writing=False)
    assert await found.token("shop/gitops") == token


async def test_who_reads_needs_no_key_of_an_app():
    app = Provider(
        host="git.acme.example",
        type="github",
        app_id="1",
        app_key_env="ACME_KEY",
        read_token_env="ACME_READER",
    )
    found = credentials.tokens(app, {"ACME_READER": "reads"}, CLOCK, writing=False)
    assert await found.token("shop/gitops") == "reads"
    assert await credentials.tokens(app, {}, CLOCK, writing=False).token("shop/gitops") == ""


def test_hosts_that_no_repository_is_on_need_no_token():
    assert forges.build(allowing("local"), {}, CLOCK).keys() == {"local"}
