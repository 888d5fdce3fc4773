import asyncio
import json
from datetime import timedelta
from email.utils import format_datetime

import httpx
import pytest
from pydantic import BaseModel

from tocsin_gitops.hosts import client as client_module
from tocsin_gitops.hosts.client import MOST_BYTES, ForgeClient, api_base, at
from tocsin_gitops.hosts.failures import MOST_SAID, ConflictError, NotFoundError
from tocsin_gitops.hosts.tokens import PlainToken
from tocsin_gitops.providers import KNOWN, HostType, Provider
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.processes import LOOPBACK
from tocsin_testing.build import NOW
from tocsin_testing.fakes import FakeClock

SECRET = "a-token-nobody-may-see"
PROVIDER = Provider(host="git.example:8443", type=HostType.GITEA)
QUERY = {"q": "what-was-asked"}


class Thing(BaseModel):
    id: int


def client(answer, token: str = SECRET, provider: Provider = PROVIDER) -> ForgeClient:
    tokens = PlainToken("GIT_TOKEN", token, "the scope write:repository")
    transport = httpx.MockTransport(answer)
    return ForgeClient(provider, tokens, clock=FakeClock(), transport=transport)


def refusing(status: int, said: object = "no", **headers: str) -> ForgeClient:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return client(lambda _: httpx.Response(status, headers=names, json={"message": said}))


async def refused(asking: ForgeClient) -> Exception:
    with pytest.raises((TransientError, PermanentError)) as caught:
        await asking.get(Thing, "a/b", at("repos", "a", "b"), QUERY)
    return caught.value


@pytest.mark.parametrize(
    ("host", "type_", "base"),
    [
        ("github.acme.example", HostType.GITHUB, "https://github.acme.example/api/v3"),
        ("git.acme.example", HostType.GITLAB, "https://git.acme.example/api/v4"),
        ("codeberg.org", HostType.GITEA, "https://codeberg.org/api/v1"),
    ],
)
def test_the_api_is_where_such_hosts_have_it(host, type_, base):
    assert api_base(Provider(host=host, type=type_)) == base


def test_the_api_of_github_com_is_on_a_host_of_its_own():
    github = next(provider for provider in KNOWN if provider.host == "github.com")
    assert api_base(github) == "https://api.github.com"


async def test_an_answer_is_read_into_what_was_asked_for():
    asked = []

    def answer(request):
        asked.append(request)
        return httpx.Response(200, json={"id": 7, "more": "x"})

    assert await client(answer).get(Thing, "a/b", at("repos", "a", "b"), QUERY) == Thing(id=7)
    assert str(asked[0].url) == "https://git.example:8443/api/v1/repos/a/b?q=what-was-asked"
    assert asked[0].headers["authorization"] == f"Bearer {SECRET}"


async def test_without_a_token_it_asks_as_nobody():
    asked = []

    def answer(request):
        asked.append(request)
        return httpx.Response(200, json={"id": 7})

    await client(answer, token="").get(Thing, "a/b", "/x")
    assert "authorization" not in asked[0].headers


@pytest.mark.parametrize("token", ["with space", "two\nlines", "grüße"])
async def test_what_can_be_no_token_is_never_sent_and_never_shown(token):
    asked = []
    error = await refused(client(asked.append, token=token))
    assert asked == []
    assert "GIT_TOKEN" in str(error)
    assert token not in str(error)


def test_a_name_cannot_lead_to_another_address():
    assert at("repos", "a", "b/c?d=e#f") == "/repos/a/b%2Fc%3Fd%3De%23f"
    for name in ("..", ".", ""):
        with pytest.raises(PermanentError):
            at("repos", name)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed(status):
    asked = []

    def answer(request):
        asked.append(request)
        return httpx.Response(status, headers={"location": "https://elsewhere.example/"})

    error = await refused(client(answer))
    assert isinstance(error, PermanentError)
    assert "moved" in str(error)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("error", "why"),
    [(httpx.ConnectError, "away"), (httpx.ReadTimeout, "30 s"), (httpx.ReadError, "away")],
)
async def test_a_host_that_is_away_is_asked_again(error, why):
    def answer(request):
        raise error("https://user:password@elsewhere.example")

    caught = await refused(client(answer))
    assert isinstance(caught, TransientError)
    assert why in str(caught)
    assert "password" not in str(caught)


async def test_a_certificate_that_is_not_trusted_is_for_a_person():
    def answer(request):
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer")

    caught = await refused(client(answer))
    assert isinstance(caught, PermanentError)
    assert "SSL_CERT_FILE" in str(caught)


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
async def test_a_fault_of_the_host_is_asked_again(status):
    caught = await refused(refusing(status))
    assert isinstance(caught, TransientError)
    assert caught.retry_in == 5.0


RESET = str(int(NOW.timestamp()) + 90)
LIMITS = [
    (429, {"retry_after": "7"}, "", 7.0),
    (429, {"retry_after": format_datetime(NOW + timedelta(seconds=33), usegmt=True)}, "", 33.0),
    (429, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": RESET}, "", 90.0),
    (429, {"ratelimit_remaining": "0", "ratelimit_reset": RESET}, "", 90.0),
    (429, {"x_ratelimit_remaining": "5", "x_ratelimit_reset": RESET}, "", 60.0),
    (429, {"retry_after": "soon"}, "", 60.0),
    (429, {"retry_after": "Mon, 01 Jan 99999999999 00:00:00 GMT"}, "", 60.0),
    (429, {"retry_after": "0"}, "", 60.0),
    (429, {"retry_after": "999999999999"}, "", 3600.0),
    (403, {"retry_after": "12"}, "", 12.0),
    (403, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": RESET}, "", 90.0),
    (403, {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1"}, "", 1.0),
    (403, {}, "You have exceeded a secondary rate limit.", 60.0),
    (403, {}, "You have triggered an abuse detection mechanism.", 60.0),
    (503, {"retry_after": "20"}, "", 20.0),
]


@pytest.mark.parametrize(("status", "headers", "said", "seconds"), LIMITS)
async def test_a_limit_is_waited_for_as_long_as_the_host_says(status, headers, said, seconds):
    caught = await refused(refusing(status, said, **headers))
    assert isinstance(caught, TransientError)
    assert caught.retry_in == seconds


@pytest.mark.parametrize("status", [401, 403])
async def test_a_token_that_is_refused_is_named_with_what_it_needs(status):
    caught = await refused(refusing(status, "Bad credentials"))
    assert isinstance(caught, PermanentError)
    assert "the token in GIT_TOKEN needs the scope write:repository" in str(caught)


async def test_what_is_not_there_may_be_hidden_from_the_token():
    caught = await refused(refusing(404, "Not Found"))
    assert isinstance(caught, NotFoundError)
    assert "GIT_TOKEN" in str(caught)


@pytest.mark.parametrize("status", [409, 422])
async def test_a_conflict_is_told_with_the_reason_of_the_host(status):
    asking = client(
        lambda _: httpx.Response(
            status,
            json={
                "message": "Validation Failed",
                "errors": [
                    {"resource": "PullRequest", "field": "head", "code": "invalid"},
                    {"resource": "PullRequest", "code": "custom", "message": "It exists"},
                ],
            },
        )
    )
    caught = await refused(asking)
    assert isinstance(caught, ConflictError)
    assert caught.status == status
    assert caught.said == "Validation Failed; head is invalid; It exists"


@pytest.mark.parametrize(
    "said", [{"branch": ["is taken"]}, ["is taken"], "is taken"], ids=["by key", "list", "text"]
)
async def test_gitlab_has_other_ways_to_say_why(said):
    caught = await refused(refusing(422, said))
    assert caught.said == "is taken"


@pytest.mark.parametrize("status", [401, 403, 404, 409, 422, 429, 500, 301])
async def test_no_message_holds_the_token_or_the_query(status):
    caught = await refused(refusing(status, f"your token {SECRET} is odd\x1b[31m"))
    assert SECRET not in str(caught)
    assert "what-was-asked" not in str(caught)
    assert "\x1b" not in str(caught)
    assert "git.example:8443: GET /repos/a/b" in str(caught)


async def test_where_a_long_reason_is_cut_no_part_of_the_token_is_left():
    caught = await refused(refusing(422, "x" * (MOST_SAID - 8) + SECRET))
    assert SECRET[:8] not in str(caught)


async def test_a_file_of_certificates_that_is_not_there_is_for_a_person(monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "no-such-file.pem")
    client_module._certificates.cache_clear()
    tokens = PlainToken("GIT_TOKEN", SECRET, "the scope write:repository")
    caught = await refused(ForgeClient(PROVIDER, tokens, clock=FakeClock()))
    assert isinstance(caught, PermanentError)
    assert "SSL_CERT_FILE" in str(caught)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"id": "x"}', b"", b"null"])
async def test_what_is_no_answer_of_the_api_is_a_mistake_in_the_settings(body):
    caught = await refused(client(lambda _: httpx.Response(200, content=body)))
    assert isinstance(caught, PermanentError)
    assert "api_base" in str(caught)


async def test_an_answer_without_end_is_cut_off():
    sent = []

    async def endless():
        while True:
            sent.append(1)
            yield b" " * 65536

    caught = await refused(client(lambda _: httpx.Response(200, content=endless())))
    assert isinstance(caught, PermanentError)
    assert len(sent) <= MOST_BYTES / 65536 + 1


async def test_two_writes_are_never_under_way_at_once():
    under_way, most = [], []

    async def answer(request):
        under_way.append(request)
        most.append(len(under_way))
        await asyncio.sleep(0)
        under_way.remove(request)
        return httpx.Response(200, json={"id": json.loads(request.content)["id"]})

    asking = client(answer)
    sent = [asking.send(Thing, "POST", "a/b", "/x", {"id": number}) for number in range(5)]
    assert [thing.id for thing in await asyncio.gather(*sent)] == [0, 1, 2, 3, 4]
    assert max(most) == 1


async def test_a_write_that_fails_lets_the_next_one_through():
    asking = refusing(500)
    for _ in range(2):
        with pytest.raises(TransientError):
            await asking.send(Thing, "POST", "a/b", "/x", {})


async def test_a_proxy_is_asked_for_a_tunnel_and_never_sees_the_token():
    heard = []

    async def proxy(reader, writer):
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(proxy, LOOPBACK, 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        told = {"api_base": "https://git.example", "proxy": f"http://{LOOPBACK}:{port}"}
        provider = PROVIDER.model_copy(update=told)
        tokens = PlainToken("GIT_TOKEN", SECRET, "the scope write:repository")
        caught = await refused(ForgeClient(provider, tokens, clock=FakeClock()))
    assert heard[0].startswith(b"CONNECT git.example:443 ")
    assert SECRET.encode() not in heard[0]
    assert isinstance(caught, TransientError)
    assert "ProxyError" in str(caught)
