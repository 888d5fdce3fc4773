"""The least rights: every service may do what its code does, and what matters only one may."""

import ast
import inspect
from datetime import date
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tocsin_contracts import EVENTS, PullRequestFound, RunFinished
from tocsin_kit import denials, keys, users
from tocsin_kit.publishes import MAKES, REPLAYED, SEALED, SERVICES, Identity
from tocsin_kit.rights import bus_rights
from tocsin_kit.store_rights import store_rights
from tocsin_kit.topology import CONSUMERS, RINGS

ROOT = Path(__file__).parents[3]
NAMES = {event.__name__: event for event in EVENTS}
FAMILIES = [
    one
    for one in inspect.getmembers(keys, inspect.isfunction)
    if one[1].__module__ == keys.__name__ and one[0] not in {"use_prefix", "prefix", "_named"}
]
EACH = pytest.mark.parametrize("who", SERVICES)


def _made(path):
    """Return the events that a file makes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {NAMES[one.id] for one in called if isinstance(one, ast.Name) and one.id in NAMES}


@EACH
def test_a_service_may_publish_every_fact_that_it_makes(who):
    made = set()
    for path in (ROOT / "services" / who / "src").rglob("*.py"):
        made |= _made(path)
    assert made - MAKES[who] == set()


def test_what_the_kit_makes_may_be_published_by_those_who_call_it():
    kit = ROOT / "libs" / "kit" / "src" / "tocsin_kit"
    callers = {
        "intake": (Identity.INGEST, Identity.RCA, Identity.GATEWAY),
        "approval_told": (Identity.NOTIFIER, Identity.GATEWAY),
        "parked": (Identity.GATEWAY,),
        "rating": (Identity.NOTIFIER, Identity.GATEWAY),
        "reruns": (Identity.GATEWAY,),
        "work": (Identity.INGEST, Identity.RCA, Identity.VALIDATION, Identity.ACTION),
    }
    resolved = {"intake": {"AlertResolved"}}  # of deliveries, which ingest alone takes
    elsewhere = {"run_records", "letters", "publishes"}  # they read, or list
    for path in kit.glob("*.py"):
        made = _made(path)
        if made and path.stem not in elsewhere:
            for who in callers[path.stem]:
                lacks = {one.__name__ for one in made - MAKES[who]}
                assert lacks <= resolved.get(path.stem, set()), (path.stem, who)


def test_every_fact_has_a_service_that_may_publish_it():
    assert set().union(*MAKES.values()) == set(EVENTS)


def test_only_those_who_take_decisions_may_tell_of_them():
    for topic in ("approval.granted.v1", "approval.denied.v1", "approval.recorded.v1"):
        may = {who for who in SERVICES if f"tocsin.{topic}.*" in bus_rights(who).publish}
        assert may == {Identity.NOTIFIER, Identity.GATEWAY}


def test_only_action_may_tell_of_what_it_did():
    for event in EVENTS:
        may = {who for who in SERVICES if event.pattern() in bus_rights(who).publish}
        if event.topic.startswith("action."):
            assert may == {Identity.ACTION}
    assert SEALED.isdisjoint(REPLAYED)
    assert {PullRequestFound, RunFinished} <= REPLAYED


@EACH
def test_a_service_takes_from_its_own_places_and_can_make_or_end_none(who):
    rights = bus_rights(who)
    for one in CONSUMERS:
        mine = one.durable.startswith(f"{who}-")
        place = f"{one.stream}.{one.durable}"
        assert (f"$JS.ACK.{place}.>" in rights.publish) is mine
        assert (f"$JS.API.CONSUMER.MSG.NEXT.{place}" in rights.publish) is mine
    verbs = {subject.split(".")[2] + "." + subject.split(".")[3] for subject in _api(rights)}
    looks = {"CONSUMER.INFO", "CONSUMER.MSG", "STREAM.INFO"}
    more = {"CONSUMER.LIST", "CONSUMER.CREATE", "CONSUMER.DELETE", "STREAM.MSG"}
    assert verbs <= (looks | more if who is Identity.GATEWAY else looks)


def _api(rights):
    return [subject for subject in rights.publish if subject.startswith("$JS.API.")]


@EACH
def test_a_service_is_answered_where_nobody_else_listens(who):
    inboxes = [one for one in bus_rights(who).subscribe if one.startswith("_INBOX")]
    assert inboxes == [f"_INBOX_{who}.>"]
    assert "tocsin.>" not in bus_rights(who).subscribe


@EACH
def test_a_service_sets_the_timers_that_it_wakes_for(who):
    subjects = {f"tocsin-timer.set.{kind}.*" for owner, kind in RINGS if owner == who}
    assert subjects <= set(bus_rights(who).publish)


def test_a_dashboard_hears_facts_and_says_nothing():
    rights = bus_rights(Identity.DASHBOARD)
    assert (rights.publish, rights.denied, rights.subscribe) == ((), (">",), ("tocsin.>",))
    assert store_rights(Identity.DASHBOARD).commands == ()


def test_only_those_who_open_and_decide_approvals_may_change_them():
    may = {who for who in SERVICES if "approval:{*}:*" in store_rights(who).writes}
    assert may == {Identity.ACTION, Identity.NOTIFIER, Identity.GATEWAY}
    tell = {who for who in SERVICES if "outbox:approvals" in store_rights(who).writes}
    assert tell == may


def test_only_the_gateway_changes_settings_while_services_run():
    may = {who for who in SERVICES if "live-settings" in store_rights(who).writes}
    assert may == {Identity.GATEWAY}
    assert all("live-settings" in (r := store_rights(w)).reads + r.writes for w in SERVICES)


@pytest.mark.parametrize("name", [n for n, _ in FAMILIES])
def test_every_key_of_the_store_may_be_written_by_a_service(name):
    make = getattr(keys, name)
    given = {"attempt": 1, "rest": ":rca:1", "service": "rca", "owner": "approvals"}
    given |= {"day": date(2026, 1, 1)}
    key = make(*(given.get(one, "r1") for one in inspect.signature(make).parameters))
    if name == "incident_alerts":
        key = make(keys.incident("r1"))
    rights = [store_rights(who) for who in SERVICES]
    patterns = {one for may in rights for one in (*may.writes, *may.appends)}
    assert any(_fits(key.removeprefix("tocsin:"), pattern) for pattern in patterns)


def _fits(key, pattern):
    pieces = pattern.split("*")
    rest = key
    if not rest.startswith(pieces[0]) or not rest.endswith(pieces[-1]):
        return False
    for piece in pieces:
        _, found, rest = rest.partition(piece) if piece else ("", "x", rest)
        if not found:
            return False
    return True


def test_passwords_stand_where_the_servers_read_them():
    passwords = {who: f"p-{who}" for who in Identity}
    bus, store = users.bus_users(passwords), users.store_users(passwords, "north")
    assert [f"password: p-{who}" in bus for who in Identity] == [True] * len(Identity)
    assert "user rca on >p-rca ~north:runs " in store
    assert "p-dashboard" not in store
    assert "~tocsin:" not in store


@pytest.mark.parametrize(
    ("url", "user"),
    [
        ("nats://rca:secret@host:4222", "rca"),
        ("nats://rca@host:4222,nats://other@two:4222", "rca"),
        ("nats://host:4222", ""),
    ],
)
def test_who_logs_in_is_named_without_the_password(url, user):
    assert denials.user_of(url) == user


def test_a_refused_publish_is_named_and_counted():
    before = denials.DENIED.labels("publish")._value.get()
    error = 'nats: Permissions Violation for Publish to "tocsin.approval.granted.v1.r1"'
    with capture_logs() as lines:
        denials.tell(RuntimeError(error), "rca")
    assert denials.DENIED.labels("publish")._value.get() == before + 1
    (line,) = lines
    assert (line["event"], line["user"]) == ("bus.denied", "rca")
    assert line["subject"] == "tocsin.approval.granted.v1.r1"
