"""Rules of an operator: who hears what, when it can wait, and which of them are refused."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from pydantic import ValidationError

from tocsin_contracts import EVENTS, Severity
from tocsin_kit.errors import PermanentError
from tocsin_kit.notices import Told
from tocsin_kit.secret_refs import SecretRef
from tocsin_notifier import app
from tocsin_notifier.addressing import Addressing
from tocsin_notifier.rules.options import EmailOptions
from tocsin_notifier.rules.quiet import LONGEST, TO_DECIDE, Quiet
from tocsin_notifier.rules.routes import About, Route, about
from tocsin_notifier.rules.standing import Standing, standing
from tocsin_notifier.rules.table import Rules
from tocsin_testing import build
from tocsin_testing.fakes import FakeClock

BERLIN = ZoneInfo("Europe/Berlin")
EVERY_DAY = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
ROUTES = (
    Route(team="payments", to="pay"),
    Route(severity=["critical", "unknown"], to=["mail", "pay"]),
    Route(environment="prod", events="approval", to="gate"),
)


def alerting(severity):
    return build.alert(severity=severity)


def went(event, run=None, routes=ROUTES, usual=("log",)):
    return Addressing(usual, FakeClock(), routes).of(event, run, Told()).now


@pytest.mark.parametrize(
    ("opened", "to"),
    [
        ({"team": "payments"}, ("pay",)),
        ({"team": "payments", "alert": alerting(Severity.CRITICAL)}, ("pay", "mail")),
        ({"alert": alerting(Severity.CRITICAL)}, ("mail", "pay")),
        ({"team": "search"}, ("log",)),
        ({"environment": "prod"}, ("log",)),
    ],
)
def test_every_route_that_matches_is_told_and_where_none_does_the_usual_ones_are(opened, to):
    wanted = {"alert": alerting(Severity.WARNING)} | opened
    assert went(build.incident_opened(**wanted)) == to


def test_a_route_can_be_for_some_messages_only():
    opened = build.incident_opened(environment="prod", alert=alerting(Severity.INFO))
    asked = build.approval_requested(alert=alerting(Severity.INFO))
    assert went(opened) == ("log",)
    assert went(asked, build.run(opened)) == ("gate",)


def test_a_storm_is_told_on_every_channel_for_it_is_about_runs_of_everybody():
    assert went(build.storm_started()) == ("pay", "mail", "log")


def test_the_severity_of_a_run_is_the_worst_that_its_alerts_have_had():
    run = build.run(
        build.incident_opened(alert=alerting(Severity.WARNING)),
        build.alert_repeated(alert=alerting(Severity.CRITICAL)),
    )
    assert standing(build.run_finished(), run).severity is Severity.CRITICAL
    assert standing(build.run_finished(), None).severity is Severity.UNKNOWN


def test_a_question_that_lost_its_run_still_knows_its_team():
    assert standing(build.approval_requested(team="payments"), None).team == "payments"


@pytest.mark.parametrize("kind", app.TOLD, ids=lambda kind: kind.topic)
def test_every_message_can_be_routed_by_what_it_is_about(kind):
    assert about(build.event(kind)) is not About.OTHER


WORDS = st.sampled_from(["a", "b", "c"])
NAMES = st.lists(WORDS, max_size=2).map(tuple)


@given(
    routes=st.lists(
        st.builds(
            Route,
            team=NAMES,
            environment=NAMES,
            events=st.lists(st.sampled_from(About), max_size=2),
            to=st.lists(WORDS, min_size=1, max_size=2),
        ),
        max_size=3,
    ),
    kind=st.sampled_from(EVENTS),
)
@examples(max_examples=60, deadline=None)
def test_p7_nothing_goes_nowhere(routes, kind):
    assert went(build.event(kind), routes=routes)


# quiet hours


def quiet(**changes):
    night = {"days": EVERY_DAY, "start": "22:00", "end": "07:00", "zone": "Europe/Berlin"}
    return Quiet.model_validate({"hours": [night | changes.pop("night", {})]} | changes)


def berlin(*parts):
    return datetime(*parts, tzinfo=BERLIN)


WARNING = Standing(severity=Severity.WARNING)
OPENED = build.incident_opened()


@pytest.mark.parametrize(
    ("at", "until"),
    [
        (berlin(2026, 3, 2, 21, 59), None),
        (berlin(2026, 3, 2, 22), berlin(2026, 3, 3, 7)),
        (berlin(2026, 3, 3, 6, 59), berlin(2026, 3, 3, 7)),
        (berlin(2026, 3, 3, 7), None),
        (berlin(2026, 3, 28, 23), berlin(2026, 3, 29, 7)),  # the clocks go forward
        (berlin(2026, 10, 24, 23), berlin(2026, 10, 25, 7)),  # and back
    ],
)
def test_quiet_hours_go_by_the_clock_on_the_wall(at, until):
    assert quiet().waits(OPENED, WARNING, at) == until


def test_a_night_when_the_clocks_change_is_an_hour_shorter_or_longer():
    starts = [berlin(2026, 3, 28, 22), berlin(2026, 10, 24, 22), berlin(2026, 3, 2, 22)]
    lengths = [quiet().end(at) - at for at in starts]
    assert [length / timedelta(hours=1) for length in lengths] == [8, 10, 9]


def test_hours_that_follow_each_other_are_one_quiet_time():
    weekend = {"days": ["sat", "sun"], "start": "00:00", "end": "00:00", "zone": "Europe/Berlin"}
    night = {"days": EVERY_DAY, "start": "22:00", "end": "07:00", "zone": "Europe/Berlin"}
    hours = Quiet.model_validate({"hours": [night, weekend]})
    assert hours.end(berlin(2026, 3, 6, 23)) == berlin(2026, 3, 9, 7)


def test_hours_without_an_end_hold_nothing_for_ever():
    always = quiet(night={"start": "00:00", "end": "00:00"})
    at = berlin(2026, 3, 2, 12)
    assert LONGEST <= always.end(at) - at <= LONGEST + timedelta(days=1)


@pytest.mark.parametrize(
    ("severity", "below", "waits"),
    [
        (Severity.CRITICAL, Severity.CRITICAL, False),
        (Severity.WARNING, Severity.CRITICAL, True),
        (Severity.WARNING, Severity.WARNING, False),
        (Severity.INFO, Severity.WARNING, True),
        (Severity.NONE, Severity.INFO, True),
        (Severity.UNKNOWN, Severity.CRITICAL, False),
    ],
)
def test_what_is_grave_or_may_be_never_waits(severity, below, waits):
    at = berlin(2026, 3, 2, 23)
    found = quiet(below=below).waits(OPENED, Standing(severity=severity), at)
    assert (found is not None) is waits


@pytest.mark.parametrize(
    "asks", [build.approval_requested, build.approval_reminded, build.approval_escalated]
)
def test_an_approval_that_would_end_before_anybody_could_decide_never_waits(asks):
    at, end = berlin(2026, 3, 2, 23), berlin(2026, 3, 3, 7)
    soon = asks(expires_at=end + TO_DECIDE - timedelta(seconds=1))
    late = asks(expires_at=end + TO_DECIDE)
    assert quiet().waits(soon, WARNING, at) is None
    assert quiet().waits(late, WARNING, at) == end


def test_a_storm_never_waits():
    assert quiet().waits(build.storm_started(), WARNING, berlin(2026, 3, 2, 23)) is None


def test_quiet_hours_are_for_people_or_for_those_that_are_named():
    assert [quiet().keeps(name) for name in ("log", "mail")] == [False, True]
    assert [quiet(channels="log").keeps(name) for name in ("log", "mail")] == [True, False]


# what is refused

NIGHT = {"days": EVERY_DAY, "start": "22:00", "end": "07:00", "zone": "Europe/Berlin"}
HOOK = {"name": "chat", "type": "teams", "url": {"env": "X"}}
MAIL = {
    "name": "mail",
    "type": "email",
    "server": "mail.example.com",
    "sender": "tocsin@example.com",
    "recipients": ["ops@example.com"],
}


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"routes": [{"to": "pigeon"}]}, "routes.0: no channel 'pigeon'; known: log"),
        (
            {"quiet": {"hours": [NIGHT | {"zone": "Moon"}]}},
            "no time zone: 'Moon'",
        ),
        ({"channels": [HOOK, HOOK]}, "two channels are called 'chat'"),
        ({"channels": [HOOK | {"name": "slack"}]}, "two channels are called 'slack'"),
        ({"channels": [HOOK | {"type": "pigeon"}]}, "channels.0"),
        ({"channels": [HOOK | {"name": "a:b"}]}, "channels.0.teams.name"),
        ({"channels": [HOOK | {"url": {}}]}, "say where it is kept"),
        ({"channels": [HOOK | {"url": {"env": "A", "file": "/b"}}]}, "say where it is kept"),
        ({"channels": [HOOK | {"url": "https://s3cret"}]}, "say where it is kept"),
        ({"channels": [HOOK | {"colour": "red"}]}, "channels.0.teams.colour"),
        ({"channels": [MAIL | {"username": "u"}]}, "go together"),
        (
            {"channels": [MAIL | {"username": "u", "password": {"env": "P"}, "security": "none"}]},
            "others can read",
        ),
        ({"channels": [MAIL | {"recipients": ["a@b.c\nBcc: x@y.z"]}]}, "recipients.0"),
        ({"channels": [MAIL | {"sender": "Tocsin <a@b.c>"}]}, "sender"),
        ({"routes": [{"team": "a", "to": []}]}, "routes.0.to"),
        ({"routes": [{"severity": "loud", "to": "log"}]}, "routes.0.severity.0"),
    ],
)
def test_a_rule_that_cannot_hold_is_refused_where_it_stands(rules, said):
    with pytest.raises(ValidationError) as refused:
        Rules.model_validate(rules)
    told = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in refused.value.errors()]
    assert said in str(told)


@pytest.mark.parametrize(("security", "port"), [("starttls", 587), ("tls", 465), ("none", 25)])
def test_a_mail_server_has_its_usual_port(security, port):
    assert EmailOptions.model_validate(MAIL | {"security": security}).at_port == port
    assert EmailOptions.model_validate(MAIL | {"port": 2525}).at_port == 2525


def test_p6_a_secret_that_is_not_there_stops_the_start_and_says_whose_and_where(
    monkeypatch, tmp_path
):
    monkeypatch.delenv("TEAMS_URL", raising=False)
    with pytest.raises(PermanentError, match="channel 'a': environment variable 'TEAMS_URL'"):
        SecretRef(env="TEAMS_URL").read("channel 'a'")
    with pytest.raises(PermanentError, match="channel 'a': cannot read file"):
        SecretRef(file=tmp_path / "none").read("channel 'a'")


def test_a_secret_is_read_from_a_variable_or_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("TEAMS_URL", "s3cret")
    (tmp_path / "url").write_text("s3cret\n")
    read = [SecretRef(env="TEAMS_URL").read("x"), SecretRef(file=tmp_path / "url").read("x")]
    assert [one.get_secret_value() for one in read] == ["s3cret", "s3cret"]
    assert "s3cret" not in str(read)
