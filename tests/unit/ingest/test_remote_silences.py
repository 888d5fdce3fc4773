"""Alertmanager's silences: read seldom, bounded, and never in the way of an alert."""

import json

import httpx
import pytest
from pydantic import SecretStr

from tocsin_ingest.remote_silences import MOST_BYTES, AlertmanagerSilences
from tocsin_ingest.triage.silences import silenced
from tocsin_kit.errors import PermanentError
from tocsin_testing import build
from tocsin_testing.build import NOW
from tocsin_testing.fakes import FakeClock

SILENCE = {
    "id": "8f2a",
    "status": {"state": "active"},
    "matchers": [
        {"name": "alertname", "value": "X", "isRegex": False, "isEqual": True},
        {"name": "severity", "value": "info|none", "isRegex": True, "isEqual": False},
    ],
    "startsAt": "2026-03-02T09:00:00.000Z",
    "endsAt": "2026-03-02T11:00:00.000Z",
    "updatedAt": "2026-03-02T09:00:00.000Z",
    "createdBy": "u-17",
    "comment": "a drill",
}


class Alertmanager:
    """Answers what a test says, and counts what it is asked."""

    def __init__(self, *silences, answer=None):
        self.answer = answer or (lambda: httpx.Response(200, json=list(silences)))
        self.asked = []
        self.clock = FakeClock()
        self.reader = AlertmanagerSilences(
            "http://am.example:9093/",
            SecretStr("a token"),
            clock=self.clock,
            transport=httpx.MockTransport(self._handle),
        )

    def _handle(self, request):
        self.asked.append(request)
        return self.answer()


async def read(*silences, answer=None):
    return await Alertmanager(*silences, answer=answer).reader.read()


async def test_a_silence_is_read_with_all_that_it_says():
    found = await read(SILENCE)
    assert found.problem == ""
    held = silenced(found.silences, build.alert(labels={"alertname": "X"}), NOW)
    assert held.rule.startswith("silence '8f2a' by u-17 holds until 2026-03-02T11:00:00")
    informed = build.alert(labels={"alertname": "X", "severity": "info"})
    assert silenced(found.silences, informed, NOW) is None


async def test_older_alertmanagers_do_not_say_that_a_matcher_is_equal():
    plain = {"name": "alertname", "value": "X", "isRegex": False}
    found = await read(SILENCE | {"matchers": [plain]})
    assert silenced(found.silences, build.alert(labels={"alertname": "X"}), NOW)


async def test_a_matcher_that_is_nested_deeply_silences_nothing():
    levels = 60
    matcher = json.loads('{"name": "a", "value": ' + "[" * levels + "]" * levels + "}")
    found = await read(SILENCE | {"matchers": [matcher]}, SILENCE)
    assert ([one.name for one in found.silences], bool(found.problem)) == (["8f2a"], True)


async def test_an_expired_silence_holds_nothing():
    assert (await read(SILENCE | {"status": {"state": "expired"}})).silences == ()


async def test_the_api_is_asked_with_the_token_once_in_so_many_seconds():
    manager = Alertmanager(SILENCE)
    for _ in range(3):
        await manager.reader.read()
    manager.clock.advance(15)
    await manager.reader.read()
    assert [str(one.url) for one in manager.asked] == ["http://am.example:9093/api/v2/silences"] * 2
    assert manager.asked[0].headers["authorization"] == "Bearer a token"


def _refuse():
    raise httpx.ConnectError("nobody there")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (_refuse, "ConnectError"),
        (lambda: httpx.Response(503), "it answered 503"),
        (lambda: httpx.Response(302, headers={"location": "http://elsewhere/"}), "answered 302"),
        (lambda: httpx.Response(200, text="<html>"), "not JSON"),
        (lambda: httpx.Response(200, json={"status": "success"}), "is no list"),
        (lambda: httpx.Response(200, content=b" " * (MOST_BYTES + 1)), "is over"),
        (lambda: httpx.Response(200, text="[" * 100_000), "nested deeper than 64 levels"),
        (lambda: httpx.Response(200, text="[" * 65 + "]" * 65), "nested deeper than 64 levels"),
        (lambda: httpx.Response(200, text='[{"id": 1, "id": 2}]'), "stands twice"),
    ],
)
async def test_an_outage_silences_nothing_and_is_said(answer, why):
    found = await read(answer=answer)
    assert found.silences == ()
    assert "could not be read" in found.problem
    assert why in found.problem


async def test_an_outage_is_not_asked_about_by_every_alert():
    manager = Alertmanager(answer=_refuse)
    await manager.reader.read()
    await manager.reader.read()
    assert len(manager.asked) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"matchers": []},
        {"matchers": [{"name": "a", "value": "(?P<", "isRegex": True}]},
        {"endsAt": "soon"},
        {"id": None},
    ],
)
async def test_a_silence_that_cannot_be_understood_hides_no_other(change):
    found = await read(SILENCE | change, SILENCE)
    assert [one.name for one in found.silences] == ["8f2a"]
    assert found.problem == "1 of Alertmanager could not be understood"


@pytest.mark.parametrize("url", ["am:9093", "ftp://am/", "http://", "http://[::1", "x\x00y"])
def test_an_address_that_is_none_of_the_web_stops_the_start(url):
    with pytest.raises(PermanentError, match="TOCSIN_ALERTMANAGER_URL"):
        AlertmanagerSilences(url)
