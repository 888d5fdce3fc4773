"""Who gets in where: every address the gateway really has, for everybody who may ask."""

import json
import re

import httpx
import pytest

from tocsin_contracts.roles import Role
from tocsin_testing import gateway_doors
from tocsin_testing.gateway_doors import WEBSOCKET

TOKENS = {role.value: f"the-token-of-{role.value}" for role in Role}
PUBLIC = "https://tocsin.example"
OPEN = {("GET", "/openapi.json"), ("GET", "/login"), ("POST", "/login"), ("GET", "/static/{name}")}
ASKERS = ["nobody", "unknown", *TOKENS]
FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "https://blog.tocsin.example"},
    {"origin": "null"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "same-site", "origin": PUBLIC},
]
OWN = [
    {},
    {"origin": PUBLIC},
    {"sec-fetch-site": "same-origin", "origin": PUBLIC},
    {"sec-fetch-site": "none"},
]


@pytest.fixture(scope="module")
def http():
    roles = {role.value: role.value for role in Role}
    return gateway_doors.gateway(
        [
            f"--api-tokens={json.dumps(TOKENS)}",
            f"--api-roles={json.dumps(roles)}",
            f"--public-url={PUBLIC}",
            '--trusted-proxies=["192.0.2.0/24"]',
            '--proxy-roles={"sre": "approver"}',
        ]
    )


@pytest.fixture(scope="module")
def api(http):
    return gateway_doors.addresses(http)[0]


@pytest.fixture(scope="module")
def console(http):
    return gateway_doors.addresses(http)[1]


class Visitor:
    """Somebody at the gateway: a program with headers, or a browser with cookies too."""

    def __init__(self, http, peer="203.0.113.9", **headers):
        self.http = http
        self.headers = headers
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(http, client=(peer, 1234), raise_app_exceptions=False),
            base_url=PUBLIC,
            headers=headers,
        )

    async def ask(self, address, headers=None, data=None):
        """Return the status of the answer; that of a WebSocket is 101 where it is let in."""
        path = re.sub(r"\{[^}]+\}", "7", address.path)
        if address.method == WEBSOCKET:
            return await self.connect(path, headers or {})
        answer = await self.client.request(address.method, path, headers=headers, data=data)
        return answer.status_code

    async def connect(self, path, headers):
        cookie = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        known = {"host": "tocsin.example", **self.headers, **headers, "cookie": cookie}
        said = []
        coming = [{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1001}]

        async def receive():
            return coming.pop(0) if len(coming) > 1 else coming[0]

        async def send(message):
            said.append(message)

        scope = {
            "type": "websocket",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in known.items()],
            "client": ("203.0.113.9", 1234),
            "extensions": {"websocket.http.response": {}},
        }
        await self.http(scope, receive, send)
        if said[0]["type"] == "websocket.accept":
            return 101
        no = "websocket.http.response"
        assert [one["type"] for one in said] == [f"{no}.start", f"{no}.body"]
        return said[0]["status"]

    async def sign_in(self, who):
        csrf = _csrf((await self.client.get("/login")).text)
        fields = {"csrf": csrf, "token": TOKENS[who], "next": ""}
        assert (await self.client.post("/login", data=fields)).status_code == 303
        return self

    async def csrf(self):
        return _csrf((await self.client.get("/no-such-page")).text)


def _csrf(page):
    return re.search(r'name="csrf" value="([^"]+)"', page)[1]


def bearer(asker):
    token = {"nobody": ""} | TOKENS
    shown = token.get(asker, "a-token-of-nobody-here")
    return {"authorization": f"Bearer {shown}"} if shown else {}


def may(asker, address):
    return asker in TOKENS and Role(asker).includes(address.role)


def test_every_address_names_its_role_or_is_one_of_the_open_ones(api, console):
    without = {(one.method, one.path) for one in api + console if one.role is None}
    assert without == OPEN


def test_nobody_changes_anything_as_a_viewer_but_who_signs_out(api, console):
    deeds = {one.path for one in api + console if one.changes and one.role is Role.VIEWER}
    assert deeds <= {"/logout"}


DECISIONS = ("/approve", "/reject", "/amend")


def test_who_decides_about_a_plan_is_an_approver_and_who_sets_the_gateway_up_an_admin(api, console):
    decides = {one.role for one in api + console if one.path.endswith(DECISIONS)}
    assert decides == {Role.APPROVER}
    assert {one.role for one in api if one.path.endswith("/config") and one.changes} <= {Role.ADMIN}


@pytest.mark.parametrize("asker", ASKERS)
async def test_p3_every_address_of_the_api_lets_in_by_token_whose_role_is_enough(http, api, asker):
    visitor, refused = Visitor(http, **bearer(asker)), 403 if asker in TOKENS else 401
    for one in [one for one in api if one.role]:
        status = await visitor.ask(one)
        told = status if status in {401, 403} else 200
        assert (one.method, one.path, told) == (
            one.method,
            one.path,
            200 if may(asker, one) else refused,
        )


@pytest.mark.parametrize("asker", list(TOKENS))
async def test_p3_every_page_lets_in_who_signed_in_and_whose_role_is_enough(http, console, asker):
    visitor = await Visitor(http).sign_in(asker)
    csrf = await visitor.csrf()
    for one in [one for one in console if one.role and one.path != "/logout"]:
        status = await visitor.ask(one, data={"csrf": csrf} if one.changes else None)
        assert (one.method, one.path, status in {401, 403}) == (
            one.method,
            one.path,
            not may(asker, one),
        )


async def test_p3_every_page_leads_a_stranger_to_the_door(http, console):
    visitor = Visitor(http)
    for one in [one for one in console if one.role]:
        status = await visitor.ask(one, data={"csrf": "x"} if one.changes else None)
        assert (one.path, status) == (one.path, 401 if one.changes else 303)


async def test_p3_a_form_of_another_browser_or_session_or_site_changes_nothing(http, console):
    visitor = await Visitor(http).sign_in("admin")
    other = await (await Visitor(http).sign_in("admin")).csrf()
    right = await visitor.csrf()
    forged = [{}, {"csrf": ""}, {"csrf": "x" * 64}, {"csrf": other}, {"csrf": "é"}]
    for one in [one for one in console if one.changes and one.role and one.path != "/logout"]:
        statuses = [await visitor.ask(one, data=fields or {"a": "b"}) for fields in forged]
        assert (one.path, statuses) == (one.path, [403] * len(forged))
        statuses = [await visitor.ask(one, headers, {"csrf": right}) for headers in FOREIGN]
        assert (one.path, statuses) == (one.path, [403] * len(FOREIGN))
        statuses = [await visitor.ask(one, headers, {"csrf": right}) for headers in OWN]
        assert 403 not in statuses


async def test_p3_what_a_browser_sends_by_itself_changes_the_api_from_our_pages_only(http, api):
    visitor = await Visitor(http).sign_in("admin")
    for one in [one for one in api if one.role]:
        foreign = {await visitor.ask(one, headers) for headers in FOREIGN}
        own = {await visitor.ask(one, headers) for headers in OWN}
        assert (one.path, foreign == {403}) == (one.path, one.changes)
        assert not own & {401, 403}


async def test_p3_what_a_proxy_vouches_for_changes_the_api_from_our_pages_only(http, api):
    named = {"x-forwarded-user": "ana", "x-forwarded-groups": "dev, sre"}
    visitor = Visitor(http, peer="192.0.2.7", **named)
    for one in [one for one in api if one.role and one.method != WEBSOCKET]:
        foreign = {await visitor.ask(one, headers) for headers in FOREIGN}
        own = {await visitor.ask(one, headers) for headers in OWN}
        assert (one.path, 403 in own) == (one.path, one.role is Role.ADMIN)
        assert (one.path, foreign == {403}) == (one.path, one.changes or one.role is Role.ADMIN)


async def test_p3_a_token_that_is_wrong_is_not_made_good_by_a_cookie(http, api):
    visitor = await Visitor(http).sign_in("admin")
    for one in [one for one in api if one.role]:
        assert await visitor.ask(one, bearer("unknown")) == 401


HEADERS = {
    "content-security-policy": "frame-ancestors 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "strict-transport-security": "max-age=31536000",
}


@pytest.mark.parametrize("asker", ["nobody", "admin"])
async def test_p3_every_answer_forbids_foreign_code_frames_and_caches(http, api, console, asker):
    program, browser = Visitor(http, **bearer(asker)), Visitor(http)
    if asker == "admin":
        await browser.sign_in(asker)
    for visitor, there in ((program, api), (browser, console)):
        for one in [one for one in there if one.method != WEBSOCKET]:
            path = re.sub(r"\{[^}]+\}", "7", one.path)
            answer = await visitor.client.request(one.method, path)
            for name, value in HEADERS.items():
                assert value in answer.headers[name], (one.path, answer.status_code)
            assert "unsafe" not in answer.headers["content-security-policy"]
            assert "no-store" in answer.headers["cache-control"], (one.path, answer.status_code)
