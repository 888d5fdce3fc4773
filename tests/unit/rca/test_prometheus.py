"""Whatever answers in the place of a Prometheus: it is bounded, and its faults have a reason."""

import asyncio
from base64 import b64encode
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from pydantic import SecretStr

from tocsin_kit.errors import PermanentError, TransientError
from tocsin_rca.ports import Window
from tocsin_rca.sources import prometheus, prometheus_answers
from tocsin_rca.sources.prometheus import Access, Prometheus

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WINDOW = Window(START - timedelta(hours=1), START, timedelta(seconds=30))
URL = "https://prometheus.example:9090/prefix/"
NUMBERS = [[START.timestamp(), "1.5"]]


def series(values=NUMBERS, **labels):
    return {"metric": labels, "values": values}


def answer(*listed, **more):
    data = {"resultType": "matrix", "result": list(listed)}
    return httpx.Response(200, json={"status": "success", "data": data, **more})


def asking(respond, seconds=5, **access):
    handler = respond if callable(respond) else lambda _: respond
    transport = httpx.MockTransport(handler)
    return Prometheus(Access(URL, **access), seconds=seconds, transport=transport)


async def asked(respond, **options):
    return await asking(respond, **options).over("up", WINDOW)


async def test_headers_of_the_operator_are_sent():
    seen = []

    def respond(request):
        seen.append(request.headers["x-scope-orgid"])
        return answer(series())

    await asked(respond, headers={"X-Scope-OrgID": "shop"})
    assert seen == ["shop"]


async def test_a_question_is_a_read_of_a_window_at_the_configured_place():
    seen = []

    def respond(request):
        seen.append(request)
        return answer(series(container="app"))

    measured = await asked(respond)
    (one,) = measured.series
    assert (one.labels, one.samples[0].at, one.samples[0].value) == (
        {"container": "app"},
        START,
        1.5,
    )
    (request,) = seen
    assert (request.method, request.url.path) == ("GET", "/prefix/api/v1/query_range")
    assert dict(request.url.params) == {
        "query": "up",
        "start": "1772438400.000",
        "end": "1772442000.000",
        "step": "30.000",
        "timeout": "5s",
        "limit": str(prometheus_answers.MOST_SERIES + 1),
    }


@pytest.mark.parametrize(
    ("access", "shown"),
    [
        ({}, None),
        ({"secret": SecretStr("t0ken")}, "Bearer t0ken"),
        (
            {"user": "ana", "secret": SecretStr("pass")},
            f"Basic {b64encode(b'ana:pass').decode()}",
        ),
    ],
)
async def test_it_is_shown_a_token_or_a_password(access, shown):
    seen = []

    def respond(request):
        seen.append(request.headers.get("authorization"))
        return answer()

    await asked(respond, **access)
    assert seen == [shown]


@pytest.mark.parametrize(
    ("response", "kind", "why"),
    [
        (httpx.Response(429), TransientError, "answers 429"),
        (httpx.Response(500, text="<html>oops"), TransientError, "answers 500"),
        (
            httpx.Response(503, json={"status": "error", "error": "query timed out"}),
            TransientError,
            "refuses the query: query timed out",
        ),
        (
            httpx.Response(400, json={"status": "error", "error": "parse error at char 4"}),
            PermanentError,
            "refuses the query: parse error at char 4",
        ),
        (httpx.Response(401), PermanentError, "look at TOCSIN_PROMETHEUS_TOKEN"),
        (httpx.Response(404), PermanentError, "look at TOCSIN_PROMETHEUS_URL"),
        (httpx.Response(200, text="<html>sign in"), PermanentError, "is the address right"),
        (httpx.Response(200, text="[" * 100_000), PermanentError, "is the address right"),
        (httpx.Response(200, json={"status": "success"}), PermanentError, "it answers: nothing"),
        (
            httpx.Response(200, json={"status": "error", "error": "no\x1b[2Jway"}),
            PermanentError,
            "it answers: noway",
        ),
        (
            httpx.Response(200, content=b"", headers={"content-encoding": "gzip"}),
            PermanentError,
            "compressed",
        ),
        (
            httpx.Response(200, content=b" " * (prometheus.MOST_BYTES + 1)),
            PermanentError,
            "more than",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_an_answer_that_is_none_says_why(response, kind, why):
    with pytest.raises(kind, match=why):
        await asked(response)


async def test_it_is_not_followed_to_another_place():
    hosts = []

    def respond(request):
        hosts.append(request.url.host)
        return httpx.Response(307, headers={"location": "https://elsewhere.example/"})

    with pytest.raises(PermanentError, match="sends us elsewhere"):
        await asked(respond, secret=SecretStr("t0ken"))
    assert hosts == ["prometheus.example"]


async def test_one_that_is_away_or_silent_is_not_waited_for():
    async def silent(_):
        await asyncio.Event().wait()

    def away(_):
        raise httpx.ConnectError("no")

    with pytest.raises(TransientError, match=r"did not answer in 0\.01 s"):
        await asked(silent, seconds=0.01)
    with pytest.raises(TransientError, match="away: ConnectError"):
        await asked(away)


async def test_only_a_few_questions_are_asked_at_once():
    running, most = 0, 0

    async def respond(_):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return answer()

    store = asking(respond)
    await asyncio.gather(*(store.over("up", WINDOW) for _ in range(20)))
    assert most <= prometheus.MOST_AT_ONCE


async def test_what_is_no_number_is_left_out_and_so_is_a_series_without_any():
    odd = [[1, "NaN"], [2, "+Inf"], [3, "x"], [1e300, "1"], [4, "2"]]
    measured = await asked(answer(series(odd, a="1"), series([[1, "NaN"]], a="2"), series([])))
    assert [[one.value for one in found.samples] for found in measured.series] == [[2]]


async def test_an_answer_that_is_not_all_says_so():
    many = [series(n=str(n)) for n in range(prometheus_answers.MOST_SERIES + 2)]
    measured = await asked(answer(*many, warnings=["store 3 is\naway"] * 9))
    assert len(measured.series) == prometheus_answers.MOST_SERIES
    assert measured.warnings == (*["store 3 is away"] * 3, "2 more series were left out")


async def test_labels_are_cleaned_and_bounded():
    labels = {f"l{n}": "x" for n in range(100)} | {"l1": "a\u202eb\n" + "c" * 1000}
    (one,) = (await asked(answer(series(**labels)))).series
    assert len(one.labels) < 100
    assert one.labels["l1"].startswith("ab c")
    assert len(one.labels["l1"]) <= 200


@pytest.mark.parametrize(
    ("access", "why"),
    [
        (Access("prometheus:9090"), "no web address"),
        (Access("http://[::"), "no web address"),
        (Access("http://host/?a=b"), "no web address"),
        (Access("http://ana:pass@host"), "TOCSIN_PROMETHEUS_TOKEN is its place"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_at_once(access, why):
    with pytest.raises(PermanentError, match=why) as refused:
        Prometheus(access)
    assert "pass@" not in str(refused.value)


def test_authorities_that_cannot_be_read_are_refused_at_once(tmp_path):
    with pytest.raises(PermanentError, match="TOCSIN_PROMETHEUS_CA"):
        Prometheus(Access(URL, ca=tmp_path / "absent.pem"))


def test_a_query_that_is_too_long_has_no_link():
    store = asking(answer())
    assert store.link("up", WINDOW).startswith("https://prometheus.example:9090/prefix/graph?")
    assert store.link("up" * 1000, WINDOW) == ""


def test_a_cluster_is_told_apart_only_where_it_is_said_how():
    assert asking(answer(), cluster_label="cluster").selects("eu") == {"cluster": "eu"}
    assert asking(answer(), cluster_label="cluster").selects("") == {}
    assert asking(answer()).selects("eu") == {}
