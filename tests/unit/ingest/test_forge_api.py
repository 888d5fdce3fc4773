"""Webhooks of forges over HTTP: only what a forge signed is believed, and 202 means stored."""

import hashlib
import hmac
import json
from urllib.parse import urlencode

import httpx
import pytest
from pydantic import SecretStr, ValidationError
from starlette.applications import Starlette

from tocsin_contracts import ForgeEventKind, ForgeKind
from tocsin_ingest.edge import answers
from tocsin_ingest.edge.answers import RefusedError
from tocsin_ingest.edge.bodies import Limits
from tocsin_ingest.forge_api import ForgeApi
from tocsin_ingest.settings import Settings
from tocsin_testing.fakes import FakeClock, FakePublisher, outage

OLD, NEW = "the-old-webhook-secret", "the-new-webhook-secret"
SECRETS = {forge: (SecretStr(OLD), SecretStr(NEW)) for forge in ForgeKind}
REPO = "shop/platform-gitops"
BRANCH = "tocsin/payments-api-memory-0123456789"
URL = f"https://forge.example/{REPO}/pull/7"
FORM = "application/x-www-form-urlencoded"
HUB = {
    "action": "closed",
    "pull_request": {
        "number": 7,
        "html_url": URL,
        "head": {"ref": BRANCH, "repo": {"full_name": REPO}},
        "merged": True,
        "merge_commit_sha": "3" * 40,
    },
    "repository": {"full_name": REPO},
    "sender": {"id": 11, "login": "ana"},
}
LAB = {
    "object_kind": "merge_request",
    "user": {"id": 11, "username": "ana"},
    "project": {"path_with_namespace": REPO},
    "object_attributes": {
        "iid": 7,
        "action": "merge",
        "source_branch": BRANCH,
        "source": {"path_with_namespace": REPO},
        "url": URL,
        "merge_commit_sha": "3" * 40,
    },
}


class FakePulls:
    """Knows the run of one address or branch."""

    def __init__(self):
        self.known = {}
        self.down = None

    async def run_of(self, repo, head_branch, url):
        if self.down:
            raise self.down
        return self.known.get(url) or self.known.get((repo, head_branch))


class Forges:
    """The endpoint with fakes behind it."""

    def __init__(self, secrets=SECRETS, limits=None):
        self.pulls, self.bus = FakePulls(), FakePublisher()
        api = ForgeApi(secrets, self.pulls, self.bus, limits=limits, clock=FakeClock())
        app = Starlette(routes=api.routes(), exception_handlers={RefusedError: answers.refuse})
        self.transport = httpx.ASGITransport(app)

    async def post(self, forge, headers, body):
        async with httpx.AsyncClient(transport=self.transport, base_url="http://test") as client:
            return await client.post(f"/forge/{forge}", content=body, headers=headers)


@pytest.fixture
def forges():
    return Forges()


def proof(forge, secret, body):
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {
        ForgeKind.GITHUB: {"X-Hub-Signature-256": f"sha256={signature}"},
        ForgeKind.GITEA: {"X-Gitea-Signature": signature},
        ForgeKind.GITLAB: {"X-Gitlab-Token": secret},
    }[forge]


def signed(forge, *, secret=NEW, delivery="d-1", payload=None, form=False):
    """Return the arguments of a delivery as the forge makes it."""
    sent = json.dumps(payload or (LAB if forge is ForgeKind.GITLAB else HUB))
    body = (urlencode({"payload": sent}) if form else sent).encode()
    told = {
        ForgeKind.GITHUB: {"X-GitHub-Event": "pull_request", "X-GitHub-Delivery": delivery},
        ForgeKind.GITEA: {"X-Gitea-Event": "pull_request", "X-Gitea-Delivery": delivery},
        ForgeKind.GITLAB: {"X-Gitlab-Event": "Merge Request Hook",
                           "X-Gitlab-Event-UUID": delivery},
    }[forge]  # fmt: skip
    kind = {"Content-Type": FORM if form else "application/json"}
    return forge.value, told | kind | proof(forge, secret, body), body


EVERY_FORGE = pytest.mark.parametrize("forge", list(ForgeKind))


@EVERY_FORGE
@pytest.mark.parametrize("secret", [OLD, NEW])
async def test_p1_what_a_forge_signed_is_stored_before_it_is_answered(forges, forge, secret):
    answer = await forges.post(*signed(forge, secret=secret))
    assert (answer.status_code, answer.json()["status"]) == (202, "accepted")
    (event,) = forges.bus.published
    assert (event.kind, event.forge, event.repo) == (ForgeEventKind.MERGED, forge, REPO)
    assert (event.number, event.merged_commit) == (7, "3" * 40)


@EVERY_FORGE
async def test_the_event_belongs_to_the_run_that_opened_the_pull_request(forges, forge):
    forges.pulls.known[REPO, BRANCH] = "r7f3"
    answer = await forges.post(*signed(forge))
    assert answer.json()["run_id"] == "r7f3"
    assert answer.json()["poll_url"] == "/api/v1/runs/r7f3"
    assert forges.bus.published[0].run_id == "r7f3"


async def test_an_event_of_nobodys_pull_request_is_stored_and_names_no_run(forges):
    answer = await forges.post(*signed(ForgeKind.GITHUB))
    assert (answer.json()["run_id"], answer.json()["poll_url"]) == ("", "")
    assert forges.bus.published[0].run_id.startswith("f")


@EVERY_FORGE
async def test_p5_a_delivery_that_comes_twice_is_one_event_even_if_its_run_is_known_only_then(
    forges, forge
):
    await forges.post(*signed(forge))
    forges.pulls.known[URL] = "r7f3"
    assert (await forges.post(*signed(forge))).status_code == 202
    assert len(forges.bus.published) == 1
    await forges.post(*signed(forge, delivery="d-2"))
    assert len(forges.bus.published) == 2


@pytest.mark.parametrize(
    ("forge", "attack"),
    [
        *((forge, attack) for forge in ForgeKind for attack in ("no proof", "wrong secret")),
        (ForgeKind.GITHUB, "changed body"),
        (ForgeKind.GITEA, "changed body"),
    ],
)
async def test_p3_what_nobody_signed_is_believed_by_nobody(forges, forge, attack):
    secret = "a-secret-of-a-stranger" if attack == "wrong secret" else NEW
    name, headers, body = signed(forge, secret=secret)
    if attack == "no proof":
        headers = {n: v for n, v in headers.items() if "Signature" not in n and "Token" not in n}
    if attack == "changed body":
        body = body.replace(b"ana", b"bob")
    answer = await forges.post(name, headers, body)
    assert answer.status_code == 401
    assert forges.bus.published == []


@EVERY_FORGE
async def test_p3_a_forge_without_a_secret_is_never_believed(forge):
    forges = Forges(secrets={})
    answer = await forges.post(*signed(forge))
    assert answer.status_code == 404
    assert "TOCSIN_FORGE_SECRETS" in answer.json()["hint"]
    assert forges.bus.published == []


async def test_a_secret_of_one_forge_opens_no_other():
    forges = Forges(secrets={ForgeKind.GITHUB: SECRETS[ForgeKind.GITHUB]})
    assert (await forges.post(*signed(ForgeKind.GITLAB))).status_code == 404
    _, headers, body = signed(ForgeKind.GITLAB)
    assert (await forges.post("github", headers, body)).status_code == 401
    assert (await forges.post("bitbucket", headers, body)).status_code == 404


async def test_a_form_of_github_is_read_as_its_json(forges):
    answer = await forges.post(*signed(ForgeKind.GITHUB, form=True))
    assert answer.status_code == 202
    assert forges.bus.published[0].kind is ForgeEventKind.MERGED


async def test_what_says_nothing_to_us_is_accepted_and_not_stored(forges):
    ping = {"zen": "Keep it logically awesome.", "hook_id": 1}
    name, headers, body = signed(ForgeKind.GITHUB, payload=ping)
    answer = await forges.post(name, headers | {"X-GitHub-Event": "ping"}, body)
    assert (answer.status_code, answer.json()["status"]) == (202, "nothing to do")
    assert forges.bus.published == []


async def test_what_is_missing_is_named(forges):
    broken = HUB | {"sender": {"login": "ana"}}
    answer = await forges.post(*signed(ForgeKind.GITHUB, payload=broken))
    assert answer.status_code == 422
    assert "sender.id" in answer.json()["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"payload=%7B", b"\xff", b'{"a": NaN}'])
@pytest.mark.parametrize("kind", ["application/json", FORM])
async def test_a_body_that_says_nothing_is_refused_whatever_it_is_called(forges, body, kind):
    headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "d", "Content-Type": kind}
    answer = await forges.post("github", headers | proof(ForgeKind.GITHUB, NEW, body), body)
    assert answer.status_code in (400, 422)
    assert forges.bus.published == []


async def test_a_body_is_bounded():
    forges = Forges(limits=Limits(body_bytes=100))
    assert (await forges.post(*signed(ForgeKind.GITHUB))).status_code == 413


@pytest.mark.parametrize("what", ["pulls", "bus"])
async def test_p1_what_could_not_be_stored_is_answered_with_our_own_trouble(forges, what):
    getattr(forges, what).down = outage()
    answer = await forges.post(*signed(ForgeKind.GITHUB))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert forges.bus.published == []


@pytest.mark.parametrize("secrets", [{"github": []}, {"github": ["short"]}, {"bitbucket": [NEW]}])
def test_a_forge_whose_secret_can_be_guessed_stops_the_start(secrets):
    with pytest.raises(ValidationError, match=r"(?i)forge_secrets"):
        Settings(ingest_tokens=("a-token-of-the-tests",), forge_secrets=secrets)
