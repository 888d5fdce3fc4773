"""Signing in over https: cookies and forms that no sibling site can plant, proxies, and leaving."""

import json
import re

import httpx
import pytest

from tocsin_testing import gateway_doors

TOKENS = {"ana": "the-token-of-ana", "bo": "the-token-of-bo1"}
PROXY, PUBLIC = "192.0.2.7", "https://tocsin.example"
SESSION, FORM = "__Host-tocsin_session", "__Host-tocsin_form"


def gateway(public=PUBLIC):
    return gateway_doors.gateway(
        [
            f"--api-tokens={json.dumps(TOKENS)}",
            f"--public-url={public}",
            '--trusted-proxies=["192.0.2.0/24"]',
            '--proxy-roles={"sre": "approver"}',
        ]
    )


@pytest.fixture(scope="module")
def http():
    return gateway()


def browser(http, base=PUBLIC, peer="203.0.113.9", **headers):
    transport = httpx.ASGITransport(http, client=(peer, 1), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=base, headers=headers)


def csrf(page):
    return re.search(r'name="csrf" value="([^"]+)"', page.text)[1]


async def enter(client, token=TOKENS["ana"], form=None, **headers):
    form = form or csrf(await client.get("/login"))
    fields = {"csrf": form, "token": token, "next": ""}
    return await client.post("/login", data=fields, headers=headers)


async def test_p3_over_https_no_sibling_domain_can_plant_a_cookie(http):
    client = browser(http)
    answer = await enter(client)
    assert set(client.cookies) == {SESSION, FORM}
    cookies = answer.headers.get_list("set-cookie")
    assert answer.status_code == 303
    for cookie in cookies:
        said = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert {"secure", "httponly", "samesite=lax", "path=/"} <= said
        assert not any(part.startswith("domain") for part in said)


async def test_over_plain_http_the_names_have_no_prefix_that_browsers_would_refuse():
    client = browser(gateway("http://tocsin.example"), "http://tocsin.example")
    answer = await enter(client)
    assert set(client.cookies) == {"tocsin_session", "tocsin_form"}
    assert "strict-transport-security" not in answer.headers


async def test_p3_a_form_cookie_of_the_old_name_that_a_sibling_planted_counts_for_nothing(http):
    attacker, victim = browser(http), browser(http)
    form = csrf(await attacker.get("/login"))
    victim.cookies.set("tocsin_form", attacker.cookies[FORM])
    answer = await enter(victim, TOKENS["bo"], form)
    assert (answer.status_code, SESSION in victim.cookies) == (403, False)


async def test_p3_a_login_form_holds_for_the_browser_that_it_was_made_for(http):
    one, other = browser(http), browser(http)
    form = csrf(await one.get("/login"))
    await other.get("/login")
    assert (await enter(other, form=form)).status_code == 403
    assert (await enter(other, form=other.cookies[FORM])).status_code == 403
    assert (await enter(one, form=form)).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://blog.tocsin.example"},
        {"origin": "null"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
    ],
)
async def test_p3_another_site_signs_nobody_in_though_it_knows_the_form(http, headers):
    client = browser(http)
    answer = await enter(client, **headers)
    assert (answer.status_code, SESSION in client.cookies) == (403, False)


async def test_who_leaves_is_a_stranger_again(http):
    client = browser(http)
    await enter(client)
    page = await client.get("/no-such-page")
    assert (await client.post("/logout", data={"csrf": csrf(page)})).status_code == 303
    assert SESSION not in client.cookies
    assert (await client.get("/runs")).headers["location"].startswith("/login")


async def test_whom_the_proxy_signed_in_needs_no_token_and_cannot_leave_here(http):
    client = browser(http, peer=PROXY, **{"x-forwarded-user": "cy"})
    assert (await client.get("/login")).headers["location"] == "/"
    page = await client.get("/feed")
    assert page.status_code == 200
    assert "<span>cy</span>" in page.text
    assert "Sign out" not in page.text
    answer = await client.post("/logout", data={"csrf": csrf(page)})
    assert answer.status_code == 409
    assert "Sign out there" in answer.text


async def test_p3_a_form_of_whom_the_proxy_signed_in_is_bound_to_browser_and_person(http):
    roles = {"x-forwarded-groups": "sre"}
    cy = browser(http, peer=PROXY, **{"x-forwarded-user": "cy"}, **roles)
    di = browser(http, peer=PROXY, **{"x-forwarded-user": "di"}, **roles)
    form = csrf(await cy.get("/feed"))
    await di.get("/feed")
    deed = "/runs/r1/cancel"
    assert (await cy.post(deed, data={"csrf": form})).status_code == 503
    assert (await di.post(deed, data={"csrf": form})).status_code == 403
    di.cookies.set(FORM, cy.cookies[FORM], domain="tocsin.example")
    assert (await di.post(deed, data={"csrf": form})).status_code == 403


async def test_p3_the_proxys_word_goes_before_a_cookie_that_somebody_left(http):
    client = browser(http, peer=PROXY)
    await enter(client)
    page = await client.get("/feed", headers={"x-forwarded-user": "cy"})
    assert "<span>cy</span>" in page.text
    assert "<span>ana</span>" not in page.text


async def test_p3_behind_https_a_cookie_of_the_session_opens_the_api_too(http):
    client = browser(http)
    await enter(client)
    assert (await client.get("/api/v1/status")).status_code == 200
    client.cookies.clear()
    assert (await client.get("/api/v1/status")).status_code == 401
