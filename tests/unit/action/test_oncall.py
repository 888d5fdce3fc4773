"""Who is on call: by instants or in turns, by the clocks on the wall, as the file is now."""

import os
from datetime import UTC, datetime, timedelta
from textwrap import dedent
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_action.oncall import OnCall, Rotation

PEOPLE = ("ana", "bo", "cy")
BERLIN = ZoneInfo("Europe/Berlin")

ROTA = """\
    payments:
      people: [ana, bo]
      start: 2026-01-05T09:00:00
      days: 7
      zone: Europe/Berlin
    "":
      - {person: cy, from: 2026-01-05T00:00:00Z, to: 2026-01-06T00:00:00Z}
    """


@pytest.fixture
def rota(tmp_path):
    file = tmp_path / "oncall.yaml"
    file.write_text(dedent(ROTA))
    return file


def at(*wall, zone=BERLIN, fold=0):
    return datetime(*wall, tzinfo=zone, fold=fold).astimezone(UTC)


def on_call(file, team, now):
    return OnCall(file, PEOPLE).person(team, now)


@pytest.mark.parametrize(
    ("now", "who"),
    [
        (at(2026, 1, 5, 8, 59), ""),
        (at(2026, 1, 5, 9, 0), "ana"),
        (at(2026, 1, 12, 8, 59), "ana"),
        (at(2026, 1, 12, 9, 0), "bo"),
        (at(2026, 1, 19, 9, 0), "ana"),
        (at(2026, 3, 30, 8, 59), "bo"),
        (at(2026, 3, 30, 9, 0), "ana"),
        (at(2026, 10, 26, 8, 59), "bo"),
        (at(2026, 10, 26, 9, 0), "ana"),
    ],
)
def test_turns_change_at_the_same_hour_on_the_wall_in_summer_and_in_winter(rota, now, who):
    assert on_call(rota, "payments", now) == who


def test_a_team_without_turns_has_those_of_every_other_team(rota):
    assert on_call(rota, "search", at(2026, 1, 5, 12)) == "cy"
    assert on_call(rota, "search", at(2026, 1, 7, 12)) == ""


@settings(max_examples=100)
@given(
    start=st.integers(0, 300 * 48),
    days=st.integers(1, 14),
    hours=st.integers(0, 24 * 400),
)
def test_a_turn_never_goes_back(start, days, hours):
    start = datetime.fromisoformat("2026-01-01T00:00:00") + timedelta(minutes=30 * start)
    people = tuple(f"p{n}" for n in range(500))
    rotation = Rotation(people=people, start=start, days=days, zone="Europe/Berlin")
    now = start.replace(tzinfo=UTC) + timedelta(hours=hours)
    first, then = (rotation.person(one) for one in (now, now + timedelta(minutes=30)))
    order = {"": -1} | {who: n for n, who in enumerate(people)}
    assert 0 <= order[then] - order[first] <= 1


def test_a_change_of_turns_in_the_hour_that_comes_twice_happens_once():
    rotation = Rotation(
        people=("ana", "bo"), start="2026-10-24T02:30:00", days=1, zone="Europe/Berlin"
    )
    first, second = (at(2026, 10, 25, 2, 45, fold=fold) for fold in (0, 1))
    again = at(2026, 10, 25, 2, 15, fold=1)
    assert [rotation.person(one) for one in (first, again, second)] == ["bo", "bo", "bo"]


def test_a_changed_file_holds_from_the_next_question_on(rota):
    duty, now = OnCall(rota, PEOPLE), at(2026, 1, 5, 12)
    assert duty.person("payments", now) == "ana"
    stamp = rota.stat().st_mtime
    rota.write_text(dedent(ROTA).replace("[ana, bo]", "[bo, ana]"))
    os.utime(rota, (stamp, stamp))
    assert duty.person("payments", now) == "bo", "the checksum tells, not the time of the file"


BAD = {
    "no yaml": "payments: [",
    "no rota": "payments: {people: []}",
    "no zone": "payments: {people: [ana], start: 2026-01-05T09:00:00, days: 7, zone: Mars/Base}",
    "no approver": "payments: {people: [mallory], start: 2026-01-05T09:00:00, days: 7}",
    "no time zone": "payments: [{person: ana, from: 2026-01-05T00:00:00, to: 2026-01-06T00:00:00}]",
    "no way back": (
        "payments: [{person: ana, from: 2026-01-06T00:00:00Z, to: 2026-01-05T00:00:00Z}]"
    ),
    "no text": "\x00",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_bad_file_keeps_the_last_good_one_and_warns_once(rota, text, capsys):
    duty, now = OnCall(rota, PEOPLE), at(2026, 1, 5, 12)
    assert duty.person("payments", now) == "ana"
    rota.write_text(text)
    assert [duty.person("payments", now) for _ in range(3)] == ["ana"] * 3
    assert capsys.readouterr().out.count("oncall.kept_the_last_good") == 1


def test_a_file_that_is_gone_keeps_the_last_good_one(rota):
    duty, now = OnCall(rota, PEOPLE), at(2026, 1, 5, 12)
    assert duty.person("payments", now) == "ana"
    rota.unlink()
    assert duty.person("payments", now) == "ana"


@pytest.mark.parametrize("text", ["", *BAD.values()])
def test_a_file_that_was_never_good_leaves_nobody_on_call(rota, text):
    rota.write_text(text)
    assert on_call(rota, "payments", at(2026, 1, 5, 12)) == ""


def test_without_a_file_nobody_is_on_call():
    assert on_call(None, "payments", at(2026, 1, 5, 12)) == ""
