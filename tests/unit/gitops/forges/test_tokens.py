import asyncio
from datetime import timedelta

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tocsin_gitops.hosts import credentials
from tocsin_gitops.hosts.client import ForgeClient
from tocsin_gitops.hosts.failures import NotFoundError
from tocsin_gitops.hosts.github_app import READ, WRITE, AppKey, AppTokens
from tocsin_gitops.hosts.tokens import PlainToken
from tocsin_gitops.providers import HostType, Provider
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_testing.fakes import FakeClock
from tocsin_testing.forges.faults import answering
from tocsin_testing.forges.github import APP, APP_BOT
from tocsin_testing.forges.github_world import NAME, PROVIDER, GitHubWorld
from tocsin_testing.forges.hosting import ANN

MINTS = "POST app/installations/9/access_tokens"


def pem(key) -> str:
    plain, form = serialization.NoEncryption(), serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, plain).decode()


@pytest.fixture(scope="module")
def keys() -> tuple[str, str]:
    """The App's private key, and what GitHub knows of it."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    public = key.public_key().public_bytes(serialization.Encoding.PEM, form)
    return pem(key), public.decode()


@pytest.fixture
def world(tmp_path, keys) -> GitHubWorld:
    """A world that is written as the App."""
    world = GitHubWorld(tmp_path)
    world.fake.public_key = keys[1]
    world.write_as(tokens_of(world, keys[0]))
    return world


def tokens_of(world: GitHubWorld, private: str, rights=WRITE, app: str = APP) -> AppTokens:
    key = AppKey(app, "APP_KEY", private, rights, world.clock)
    asking = ForgeClient(PROVIDER, key, clock=world.clock, transport=world.wire)
    return AppTokens(asking, key)


async def test_an_app_writes_with_a_token_for_one_repository_and_few_rights(world):
    await world.forge.open_pull(world.request())
    assert world.fake.minted == [
        {
            "repositories": ["platform"],
            "permissions": {"contents": "write", "metadata": "read", "pull_requests": "write"},
        }
    ]


async def test_who_only_reads_may_only_read(world, keys):
    tokens = tokens_of(world, keys[0], READ)
    world.write_as(tokens)
    await world.pulls.open_pulls(world.repository)
    assert set(world.fake.minted[0]["permissions"].values()) == {"read"}
    with pytest.raises(PermanentError):
        await world.forge.open_pull(world.request())


async def test_the_app_speaks_for_itself_for_less_than_ten_minutes(world, keys):
    key = AppKey(APP, "APP_KEY", keys[0], WRITE, world.clock)
    unchecked = {"verify_exp": False, "verify_iat": False}
    said = jwt.decode(await key.token(NAME), keys[1], algorithms=["RS256"], options=unchecked)
    now = int(world.clock.now().timestamp())
    assert (said["iss"], said["iat"]) == (APP, now - 60)
    assert now < said["exp"] <= now + 600


async def test_a_token_is_used_until_five_minutes_before_its_end(world, keys):
    tokens = tokens_of(world, keys[0])
    first = await tokens.token(NAME)
    world.clock.advance(timedelta(minutes=54, seconds=59).total_seconds())
    assert await tokens.token(NAME) == first
    world.clock.advance(1)
    assert await tokens.token(NAME) != first
    assert world.fake.writes == [MINTS, MINTS]


async def test_many_who_ask_at_once_get_one_token(world, keys):
    tokens = tokens_of(world, keys[0])
    given = await asyncio.gather(*(tokens.token(NAME) for _ in range(5)))
    assert len(set(given)) == 1
    assert world.fake.writes == [MINTS]


async def test_a_token_that_is_refused_is_not_used_again(world):
    await world.pulls.open_pulls(world.repository)
    world.fake.ends.clear()
    with pytest.raises(TransientError, match="the next one may be"):
        await world.pulls.open_pulls(world.repository)
    assert await world.pulls.open_pulls(world.repository) == ()
    assert len(world.fake.minted) == 2


async def test_an_app_comments_as_its_bot(world):
    await world.forge.open_pull(world.request())
    world.fake.say(1, ANN, "Hush.\n\n<!-- verified:r1 -->")
    said = await world.forge.comment(world.repository, 1, "Verified.", "verified:r1")
    assert said.author == str(APP_BOT.id)
    assert await world.forge.comment(world.repository, 1, "Verified.", "verified:r1") == said


async def test_an_app_that_is_not_installed_is_told_from_a_mistake_in_the_name(world, keys):
    tokens = tokens_of(world, keys[0])
    with pytest.raises(NotFoundError, match="the GitHub App 123, whose key is in APP_KEY, has to"):
        await tokens.token("shop/elsewhere")


async def test_rights_that_were_not_granted_are_named(world, keys):
    world.wire.position = 1
    world.wire.fault = answering(422, "The permissions requested are not granted")
    with pytest.raises(PermanentError, match="contents: write"):
        await tokens_of(world, keys[0]).token(NAME)


async def test_a_key_of_another_app_is_a_mistake_that_names_the_variable(world, keys):
    with pytest.raises(PermanentError, match="APP_KEY"):
        await tokens_of(world, keys[0], app="999").token(NAME)


@pytest.mark.parametrize("text", ["", "-----BEGIN PRIVATE KEY-----\nnot-a-key-at-all\n", "ec"])
def test_what_is_no_rsa_key_is_refused_at_start_and_never_shown(text):
    text = pem(ec.generate_private_key(ec.SECP256R1())) if text == "ec" else text
    with pytest.raises(PermanentError, match="APP_KEY holds no private RSA key") as caught:
        AppKey(APP, "APP_KEY", text, WRITE, FakeClock())
    assert "not-a-key-at-all" not in str(caught.value)


def github(**fields: str) -> Provider:
    return Provider(host="github.example", type=HostType.GITHUB, **fields)


def found(provider: Provider, environment: dict[str, str], *, writing: bool = True):
    return credentials.tokens(provider, environment, FakeClock(), writing=writing)


async def test_a_token_is_what_its_variable_holds():
    tokens = found(github(token_env="GIT_TOKEN"), {"GIT_TOKEN": " secret-token\n"})
    assert await tokens.token(NAME) == "secret-token"
    assert tokens.needs.startswith("the token in GIT_TOKEN needs contents: write")
    assert "secret-token" not in repr(tokens)


@pytest.mark.parametrize("environment", [{}, {"GIT_TOKEN": ""}, {"GIT_TOKEN": " \n"}])
def test_who_writes_needs_a_token(environment):
    with pytest.raises(PermanentError, match="no token to write with; set GIT_TOKEN"):
        found(github(token_env="GIT_TOKEN"), environment)


async def test_who_reads_may_be_nobody():
    tokens = found(github(token_env="GIT_TOKEN"), {}, writing=False)
    assert await tokens.token(NAME) == ""


async def test_who_reads_has_a_token_of_its_own_if_there_is_one():
    provider = github(token_env="WRITES", read_token_env="READS")
    environment = {"WRITES": "the-writing-one", "READS": "the-reading-one"}
    assert await found(provider, environment).token(NAME) == "the-writing-one"
    assert await found(provider, environment, writing=False).token(NAME) == "the-reading-one"


async def test_a_variable_that_holds_nothing_but_space_is_not_set():
    provider = github(token_env="WRITES", read_token_env="READS")
    environment = {"WRITES": "the-writing-one", "READS": " \n"}
    assert await found(provider, environment, writing=False).token(NAME) == "the-writing-one"


@pytest.mark.parametrize("form", ["as it is", "on one line", "in a file"])
def test_the_key_of_an_app_may_be_given_in_three_ways(form, keys, tmp_path):
    file = tmp_path / "key.pem"
    file.write_text(keys[0], encoding="ascii")
    forms = {"as it is": keys[0], "on one line": keys[0].replace("\n", "\\n"), "in a file": file}
    provider = github(app_id=APP, app_key_env="APP_KEY")
    tokens = found(provider, {"APP_KEY": str(forms[form])})
    assert isinstance(tokens, AppTokens)
    assert keys[0].splitlines()[3] not in repr(tokens)


@pytest.mark.parametrize("value", ["", "no-such-file.pem"])
def test_a_key_that_is_not_there_is_named_by_its_variable(value):
    provider = github(app_id=APP, app_key_env="APP_KEY")
    with pytest.raises(PermanentError, match="APP_KEY"):
        found(provider, {"APP_KEY": value})


def test_who_reads_with_a_token_of_its_own_never_sees_the_key_of_the_app():
    provider = github(app_id=APP, app_key_env="APP_KEY", read_token_env="READS")
    tokens = found(provider, {"READS": "the-reading-one"}, writing=False)
    assert isinstance(tokens, PlainToken)
