"""The parts of the console by themselves: sessions, searches, exports, words and colours."""

import asyncio
import csv
import io
import re
from datetime import timedelta

import pytest
from pydantic import SecretStr
from starlette.datastructures import QueryParams
from starlette.requests import Request

from tocsin_contracts import EditOp, RunState, Severity
from tocsin_contracts.views import TimelineEntry
from tocsin_gateway import views
from tocsin_gateway.access import Access
from tocsin_gateway.console import exports, forms, rendering, story, wording
from tocsin_gateway.console.desk import Listed
from tocsin_gateway.console.search import Search, page_of
from tocsin_gateway.console.sessions import Sessions
from tocsin_gateway.refusals import RefusedError
from tocsin_testing import build
from tocsin_testing.build import NOW
from tocsin_testing.fakes import FakeClock

TOKENS = {"ana": SecretStr("token-of-ana-1234"), "b|ö": SecretStr("token-of-bo-12345")}


def sessions(clock=None, **tokens):
    known = {who: SecretStr(token) for who, token in tokens.items()} or TOKENS
    return Sessions(Access(known), 12, clock or FakeClock())


@pytest.mark.parametrize("who", TOKENS)
def test_every_replica_knows_a_session(who):
    session = sessions().of(sessions().open(who))
    assert session.who == who


def test_two_sessions_of_one_person_have_forms_of_their_own():
    door = sessions()
    assert len({door.of(door.open("ana")).csrf for _ in range(3)}) == 3


def test_p3_a_session_ends_with_its_token():
    cookie = sessions().open("ana")
    assert sessions(ana="another-token-of-ana").of(cookie) is None
    assert sessions(bo="token-of-bo-12345").of(cookie) is None


def test_a_session_ends_after_its_hours():
    clock = FakeClock()
    door = sessions(clock)
    cookie = door.open("ana")
    clock.advance(12 * 3600 - 1)
    assert door.of(cookie)
    clock.advance(2)
    assert door.of(cookie) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda cookie: "",
        lambda cookie: ".",
        lambda cookie: cookie + "0",
        lambda cookie: cookie[:-1],
        lambda cookie: cookie[1:],
        lambda cookie: cookie.partition(".")[0],
        lambda cookie: cookie.partition(".")[0] + "." + "é" * 64,
        lambda cookie: "A" * 5000 + cookie,
        lambda cookie: "W10=." + cookie.rpartition(".")[2],
        lambda cookie: "\udcff." + cookie.rpartition(".")[2],
    ],
)
def test_p3_a_cookie_that_we_did_not_make_is_nobodys(change):
    door = sessions()
    assert door.of(change(door.open("ana"))) is None


def test_p3_nobody_makes_a_cookie_of_somebody_else():
    mine, theirs = sessions().open("ana"), sessions().open("b|ö")
    assert sessions().of(theirs.partition(".")[0] + "." + mine.partition(".")[2]) is None


def listed(run_id, state=RunState.INVESTIGATING, severity=Severity.WARNING, **about):
    source = about.pop("source", "alertmanager")
    alert = build.alert(severity=severity, source=source, **about)
    run = build.run(build.alert_accepted(run_id=run_id, alert=alert), state=state)
    return Listed(views.summary(run), source)


RUNS = [
    listed("r1", RunState.AWAITING_APPROVAL, Severity.CRITICAL, title="Disk full"),
    listed("r2", RunState.AWAITING_APPROVAL, title="Pod crashes", source="datadog"),
    listed("r3", RunState.RESOLVED, title="Disk slow"),
    listed("r4", RunState.FAILED, Severity.INFO, title="Latency", source="datadog"),
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", "r1 r2 r3 r4"),
        ("q=disk", "r1 r3"),
        ("q=SLOW+disk", "r3"),
        ("q=payments", "r1 r2 r3 r4"),
        ("q=r4", "r4"),
        ("q=nothing", ""),
        ("state=awaiting_approval", "r1 r2"),
        ("state=resolved&state=failed", "r3 r4"),
        ("severity=critical", "r1"),
        ("source=datadog", "r2 r4"),
        ("source=datadog&state=awaiting_approval&q=pod", "r2"),
        ("state=&severity=&source=&q=+", "r1 r2 r3 r4"),
    ],
)
def test_runs_are_found_by_facets_and_words(query, found):
    search = Search.of(QueryParams(query))
    assert " ".join(one.line.run_id for one in search.found(RUNS)) == found
    assert Search.of(QueryParams(search.address())) == search


@pytest.mark.parametrize("query", ["state=nowhere", "severity=loud&severity=critical"])
def test_a_facet_that_is_none_is_refused_and_never_ignored(query):
    with pytest.raises(RefusedError, match="no such"):
        Search.of(QueryParams(query))


def test_a_facet_counts_what_its_choice_would_show_beside_the_others():
    facets = Search.of(QueryParams("source=datadog")).facets(RUNS)
    assert {one.value: one.count for one in facets["source"]} == {"alertmanager": 2, "datadog": 2}
    assert {one.value: one.count for one in facets["state"]} == {
        "awaiting_approval": 1,
        "failed": 1,
    }
    assert [one.value for one in facets["source"] if one.chosen] == ["datadog"]


def test_counts_that_nobody_looked_for_are_left_out():
    search = Search.of(QueryParams("state=resolved"))
    assert search.only_state is RunState.RESOLVED
    assert {one.count for one in search.facets(RUNS)["state"]} == {None}


@pytest.mark.parametrize(
    ("given", "page"), [("", 1), ("page=2", 2), ("page=0", 1), ("page=-1", 1), ("page=²", 1)]
)
def test_a_page_that_is_none_is_the_first(given, page):
    assert page_of(QueryParams(given)) == page


@pytest.mark.parametrize("title", ["=cmd()", "+1", "-1", "@x", "\t=1", "\r=1"])
def test_p3_no_cell_is_a_formula(title):
    text = exports.as_csv([listed("r1", title=title)]).body.decode()
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["title"] == f"'{title}"
    assert row["state"] == "investigating"


@pytest.mark.parametrize("title", ["x;=cmd()", "x; @y", "x\t+1"])
def test_p3_no_part_of_a_cell_is_a_formula_where_lists_are_separated_otherwise(title):
    text = exports.as_csv([listed("r1", title=title)]).body.decode()
    assert not re.search(r"[;\t]\s*[=+@-]", text)


def test_p3_a_line_of_the_diff_that_others_would_break_counts_once():
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n # c\u2028-  replicas: 3\n-a: 1\n+a: 2\n"
    assert wording.size(build.plan(diff=diff)).startswith("+1 \u22121")


def test_a_table_has_a_cell_for_each_column():
    text = exports.as_csv(RUNS).body.decode()
    rows = list(csv.reader(io.StringIO(text)))
    assert {len(row) for row in rows} == {len(exports.COLUMNS)}
    assert len(rows) == 5


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "0 s"), (59, "59 s"), (60, "1 min"), (3_700, "1 h 1 min"), (90_000, "1 d 1 h")],
)
def test_a_span_is_said_in_two_units(seconds, words):
    assert wording.span(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext é 漢 ⚠️", "plain\n\ttext é 漢 ⚠️"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u2066b\u2069", "a⟨U+2066⟩b⟨U+2069⟩"),
        ("a\u200bb\ufeff", "a⟨U+200B⟩b⟨U+FEFF⟩"),
        ("a\rb\x1b[0m", "a⟨U+000D⟩b⟨U+001B⟩[0m"),
        ("\ud800", "⟨U+D800⟩"),
        ("\u3164", "⟨U+3164⟩"),
        (7, 7),
    ],
)
def test_what_cannot_be_seen_has_a_mark(text, shown):
    assert wording.shown(text) == shown


@pytest.mark.parametrize("address", ["https://a.example/x?y=1", "http://a.example"])
def test_an_address_is_a_link(address):
    assert wording.link(address) == address


@pytest.mark.parametrize(
    "address", ["", "javascript:alert(1)", "data:text/html,x", "//a", " https://a", "https://a b"]
)
def test_p3_what_is_no_web_address_is_no_link(address):
    assert wording.link(address) == ""


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({}, "…resources.limits.memory: 128Mi → 256Mi"),
        ({"op": EditOp.DELETE}, "…resources.limits.memory: 128Mi goes"),
        ({"op": EditOp.INSERT, "new": 3, "path": ("a", 0)}, "a[0]: new 3"),
        ({"op": EditOp.CREATE, "file": "x.yaml"}, "new file x.yaml"),
        ({"new": "y" * 99, "path": ("a",)}, f"a: 128Mi → {'y' * 59}…"),
    ],
)
def test_a_change_is_said_on_one_line(edit, words):
    assert wording.change(build.plan(edits=(build.edit(**edit),))) == words


def test_more_changes_are_counted():
    plan = build.plan(edits=(build.edit(), build.edit(), build.edit()))
    assert wording.change(plan).endswith(" and 2 more")
    assert wording.change(build.plan(edits=())) == "no field"


def entry(minutes, topic="alert.accepted.v1"):
    at = NOW + timedelta(minutes=minutes)
    return TimelineEntry(at=at, topic=topic, producer="x", text="y")


def test_a_timeline_shows_where_nothing_was_told():
    timeline = [entry(0), entry(0.5), entry(90, "approval.requested.v1")]
    rows = story.rows(timeline, NOW + timedelta(minutes=100), ended=False)
    gaps = [(row.words, row.open) for row in rows if isinstance(row, story.Gap)]
    assert gaps == [("until triage looked at it", False), ("of waiting for a decision", True)]
    assert [row for row in rows if not isinstance(row, story.Gap)] == timeline


def test_nothing_goes_on_after_the_end():
    assert story.rows([entry(0)], NOW + timedelta(days=9), ended=True) == [entry(0)]
    assert story.rows([], NOW, ended=False) == []


@pytest.mark.parametrize("state", [*RunState, *Severity])
def test_a_state_is_never_colour_alone(state):
    sign, tone = wording.tone(state)
    assert sign
    assert tone in {"good", "warn", "bad", "busy", "calm"}


CSS = rendering.content("console.css").decode()
COLOURS = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", CSS)
THEMES = [{name: pair[dark] for name, *pair in COLOURS} for dark in (0, 1)]


def light(colour):
    parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES, ids=["light", "dark"])
def test_every_text_stands_out_from_what_is_behind_it(theme):
    words = ("text", "soft", "accent", "good", "warn", "bad", "busy", "calm")
    pairs = [(word, back) for word in words for back in ("page", "card", "well")]
    pairs += [("on-accent", "accent"), ("text", "add"), ("text", "del"), ("accent", "mark")]
    weak = {pair for pair in pairs if contrast(theme[pair[0]], theme[pair[1]]) < 4.5}
    assert weak == set()


async def _never():
    await asyncio.Event().wait()


async def _gone():
    return {"type": "http.disconnect"}


@pytest.mark.parametrize("receive", [_never, _gone])
async def test_a_form_that_does_not_come_is_refused_in_time(receive, monkeypatch):
    monkeypatch.setattr(forms, "READ_SECONDS", 0)
    request = Request({"type": "http", "method": "POST", "headers": [], "path": "/login"}, receive)
    with pytest.raises(RefusedError) as refused:
        await forms.read(request)
    assert refused.value.status == 408
