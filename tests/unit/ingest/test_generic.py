"""Senders without code: what is guessed by usual names, and what an operator describes."""

import json
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tocsin_contracts import AlertStatus, Severity
from tocsin_ingest import sources
from tocsin_ingest.alerts import Identity, alert_of
from tocsin_ingest.mapping import SourceMapping
from tocsin_ingest.ports import BadPayloadError, Delivery
from tocsin_ingest.settings import Settings
from tocsin_kit.errors import PermanentError
from tocsin_testing.readings import alerts_of

FOLDER = Path(__file__).parent / "payloads" / "generic"
REFUSED = sorted(FOLDER.glob("*.refused.json"))
CREATED = sorted(path for path in FOLDER.glob("*create*.json") if len(path.suffixes) == 1)
SAID_FIRING = ("auvik__pagertree_resolve",)
"""What its sender calls resolved, in a number that nothing explains."""

RECEIVED = datetime(2026, 1, 1, 12, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["title", "status", "labels", "alerts", "x"]), inner)
    ),
    max_leaves=12,
)


def one(body):
    (alert,) = alerts_of("generic", body)
    return alert


def saved(name):
    return json.loads((FOLDER / f"{name}.json").read_bytes())


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_what_tells_of_no_alert_is_refused_by_the_name_of_what_is_missing(path):
    name = path.name.removesuffix(".refused.json")
    with pytest.raises(BadPayloadError) as refused:
        alerts_of("generic", saved(name))
    missing = json.loads(path.read_bytes())
    assert [field for field in missing if f"{field}: " not in str(refused.value)] == []


@pytest.mark.parametrize("path", CREATED, ids=lambda path: path.stem)
def test_a_problem_is_the_same_when_it_is_over(path):
    name = path.stem.replace("create", "resolve")
    if not (FOLDER / f"{name}.json").exists():
        name = path.stem
    first, last = one(saved(path.stem)), one(saved(name))
    assert first.fingerprint == last.fingerprint
    over = name != path.stem and name not in SAID_FIRING
    assert last.status is (AlertStatus.RESOLVED if over else AlertStatus.FIRING)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"status": "OK"}, AlertStatus.RESOLVED),
        ({"state": "check.up"}, AlertStatus.RESOLVED),
        ({"event_type": "ALERT_RECOVERY"}, AlertStatus.RESOLVED),
        ({"status": "Down ended (now: Up)"}, AlertStatus.RESOLVED),
        ({"title": "[RESOLVED] DiskFull"}, AlertStatus.RESOLVED),
        ({"is_ok": 1}, AlertStatus.RESOLVED),
        ({"resolved": True}, AlertStatus.RESOLVED),
        ({"severity": "clear"}, AlertStatus.RESOLVED),
        ({"alert": {"state": "closed"}}, AlertStatus.RESOLVED),
        ({"status": "not ok"}, AlertStatus.FIRING),
        ({"status": "purple"}, AlertStatus.FIRING),
        ({"event": "the server failed to come up"}, AlertStatus.FIRING),
        ({"severity": "normal"}, AlertStatus.FIRING),
        ({"is_ok": 0}, AlertStatus.FIRING),
        ({"status": "firing", "resolved": True}, AlertStatus.FIRING),
        ({"project": {"status": "closed"}}, AlertStatus.FIRING),
        ({"title": "Up and running is not what this is"}, AlertStatus.FIRING),
        ({}, AlertStatus.FIRING),
    ],
    ids=str,
)
def test_only_what_surely_says_so_ends_an_alert(fields, status):
    assert one({"title": "DiskFull", **fields}).status is status


def test_the_words_that_change_are_no_part_of_who_it_is():
    texts = ("cpu is CRITICAL", "cpu is OK", "[FIRING:2] cpu is", "[RESOLVED] cpu is")
    assert len({one({"title": text}).fingerprint for text in texts}) == 1
    assert one({"title": "disk is OK"}).fingerprint != one({"title": "cpu is OK"}).fingerprint


def test_things_tell_alerts_apart_and_texts_do_not():
    body = {"title": "5 errors", "host": "db-1", "check": {"id": 7}, "severity": "warning"}
    other = body | {"title": "9 errors", "severity": "critical", "message": "worse"}
    assert one(body).fingerprint == one(other).fingerprint
    assert one(body).fingerprint != one(body | {"host": "db-2"}).fingerprint
    assert one(body).fingerprint != one(body | {"check": {"id": 8}}).fingerprint


def test_a_key_of_the_sender_says_who_it_is():
    body = {"title": "t", "host": "a", "dedup_key": "k"}
    assert one(body).fingerprint == one(body | {"host": "b"}).fingerprint


def test_labels_of_the_sender_name_the_workload():
    alert = one({"title": "t", "labels": {"kube_namespace": "shop", "kube_deployment": "cart"}})
    assert (alert.workload.namespace, alert.workload.name) == ("shop", "cart")


def test_every_alert_of_a_list_is_read_with_what_stands_around_it():
    body = {
        "status": "firing",
        "alerts": [{"title": "a", "severity": "P1"}, {"title": "b", "status": "resolved"}],
    }
    first, last = alerts_of("generic", body)
    assert (first.title, first.status, first.severity) == ("a", "firing", Severity.CRITICAL)
    assert (last.title, last.status) == ("b", "resolved")
    assert [alert.title for alert in alerts_of("generic", [{"title": "a"}, {"name": "b"}])] == [
        "a",
        "b",
    ]


def test_a_time_that_is_none_loses_no_alert():
    alert = one({"title": "t", "timestamp": "yesterday", "startsAt": "2026-01-01T00:00:00Z"})
    assert alert.starts_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert one({"title": "t", "timestamp": "yesterday"}).starts_at is None


@settings(max_examples=60, deadline=None)
@given(JSON)
def test_any_json_is_read_or_refused_and_its_order_says_nothing(body):
    def outcome(payload):
        try:
            return alerts_of("generic", payload)
        except BadPayloadError as refused:
            return str(refused)

    assert outcome(body) == outcome(turned(body))


def turned(value):
    if isinstance(value, dict):
        return {key: turned(inner) for key, inner in reversed(value.items())}
    return [turned(inner) for inner in value] if isinstance(value, list) else value


def described(body, **expressions):
    mapping = SourceMapping(**{"title": "title", **expressions})
    source = sources.load(mappings={"acme": mapping})["acme"]
    readings = source.parse(Delivery(payload=body, received_at=RECEIVED))
    return [alert_of(reading, Identity(source="acme")) for reading in readings]


def test_an_operator_describes_a_sender():
    body = {
        "site": "prod-eu-1",
        "problems": [
            {"what": "Slow", "open": True, "sev": 2, "ns": "shop", "app": "cart", "at": 1767225600},
            {"what": "Dead", "open": False, "sev": 1, "tags": {"team": "web"}, "ref": "x-1"},
        ],
    }
    slow, dead = described(
        body,
        alerts="problems",
        title="what",
        resolved_when="open == `false`",
        severity="join('', ['P', to_string(sev)])",
        summary="join(' on ', [what, site])",
        labels={"namespace": "ns", "deployment": "app", "cluster": "site", "tags": "tags"},
        starts_at="at",
        link="join('', ['https://acme.example.com/', ref])",
        key="ref",
    )
    assert (slow.title, slow.status, slow.severity) == ("Slow", "firing", Severity.WARNING)
    assert slow.starts_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert (slow.workload.cluster, slow.workload.name) == ("prod-eu-1", "cart")
    assert (dead.status, dead.severity, dead.labels["team"]) == ("resolved", "critical", "web")
    assert dead.link == "https://acme.example.com/x-1"


@pytest.mark.parametrize("number", [*range(6), 9])
def test_a_number_is_no_severity_unless_somebody_says_so_and_is_kept(number):
    (alert,) = alerts_of("generic", {"title": "t", "severity": number})
    assert (alert.severity, alert.severity_given) == (Severity.UNKNOWN, str(number))
    (alert,) = described({"title": "t", "severity": number}, severity="severity")
    assert (alert.severity, alert.severity_given) == (Severity.UNKNOWN, str(number))


@pytest.mark.parametrize(
    ("given", "severity"),
    [(9, "critical"), ("Sev A", "warning"), ("high", "critical"), (1, "unknown")],
)
def test_an_operator_says_what_the_severities_of_a_sender_are(given, severity):
    said = {"9": "critical", "Sev A": "warning"}
    (alert,) = described({"title": "t", "s": given}, severity="s", severities=said)
    assert (alert.severity, alert.severity_given) == (severity, str(given))


def test_a_severity_that_is_described_by_another_word_than_ours_is_refused():
    with pytest.raises(ValidationError, match="'critical', 'warning', 'info'"):
        SourceMapping(title="title", severities={"1": "loud"})


@pytest.mark.parametrize(
    ("status", "found"), [("over", "firing"), ("closed", "resolved"), (None, "firing")]
)
def test_without_a_condition_a_known_word_ends_an_alert(status, found):
    (alert,) = described({"title": "t", "s": status}, status="s")
    assert alert.status == found


@pytest.mark.parametrize(
    ("body", "expressions", "fault"),
    [
        ({}, {}, "acme: title: 'title' found no text"),
        ({"title": {"a": 1}}, {}, "acme: title: 'title' found no text"),
        ({"title": "t"}, {"alerts": "items"}, "acme: alerts: 'items' found nothing"),
        ({"items": []}, {"alerts": "items"}, "acme: alerts: 'items' found nothing"),
        ({"title": 1}, {"title": "ceil(to_number('1e999'))"}, "found no text"),
        ("text", {"title": "length(@.x)"}, "found no text"),
    ],
    ids=str,
)
def test_an_expression_that_finds_nothing_is_named(body, expressions, fault):
    with pytest.raises(BadPayloadError, match=fault.replace("(", r"\(")):
        described(body, **expressions)


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ({"acme": {"title": "a["}}, r"generic_sources.acme.title.*'a\[' is no JMESPath"),
        ({"acme": {"title": "no(a)"}}, "generic_sources.acme.title.*no function 'no'"),
        ({"acme": {"title": "x[?length(a, b)]"}}, r"length\(\) takes 1 arguments, not 2"),
        ({"acme": {"title": "a", "labels": {"b": "c d"}}}, "generic_sources.acme.labels.b"),
        ({"acme": {"title": "a" * 501}}, "it is longer than 500 characters"),
        ({"acme": {"title": "!" * 499 + "a"}}, "is nested too deeply"),
        ({"acme": {"title": ""}}, "generic_sources.acme.title"),
        ({"acme": {}}, "generic_sources.acme.title"),
        ({"acme": {"title": "a", "tilte": "b"}}, "generic_sources.acme.tilte"),
        ({"a/b": {"title": "a"}}, "generic_sources.a/b"),
    ],
    ids=str,
)
def test_a_description_that_cannot_work_stops_the_start_with_its_name(monkeypatch, table, fault):
    monkeypatch.setenv("TOCSIN_DEV", "true")
    monkeypatch.setenv("TOCSIN_GENERIC_SOURCES", json.dumps(table))
    with pytest.raises(PermanentError, match=fault):
        Settings.load()


def test_a_description_under_the_name_of_a_source_stops_the_start():
    with pytest.raises(PermanentError, match="two plugins are called 'grafana'"):
        sources.load(mappings={"grafana": SourceMapping(title="t")})


def test_no_more_alerts_are_read_than_tell_that_there_are_too_many():
    body = {"alerts": [{"title": str(number)} for number in range(2000)], "x": {"y": "z"}}
    alerts = described(body, alerts="alerts", summary="x.y", labels={"n": "title"})
    assert len(alerts) == 1001
    assert {alert.summary for alert in alerts} == {"z"}


PLAIN = """
class Plain:
    name = "plain"

    def parse(self, delivery):
        return []
"""


@pytest.fixture
def plain(tmp_path, monkeypatch):
    """A package that brings a source, installed."""
    info = tmp_path / "plain_source-1.0.dist-info"
    info.mkdir()
    (tmp_path / "plain_source.py").write_text(PLAIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plain-source\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tocsin.alert_sources]\nplain = plain_source:Plain\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "plain"
    sys.modules.pop("plain_source", None)


def test_the_source_of_a_package_is_there_once_it_is_named(plain):
    assert plain not in sources.load()
    assert plain in sources.load([plain])


def test_a_source_that_nobody_installed_stops_the_start(plain):
    with pytest.raises(PermanentError, match="no plugin 'other' is installed; installed: plain"):
        sources.load(["other"])


def test_a_description_under_the_name_of_a_plugin_stops_the_start(plain):
    with pytest.raises(PermanentError, match="two plugins are called 'plain'"):
        sources.load([plain], {plain: SourceMapping(title="t")})


@pytest.mark.parametrize(
    ("body", "title", "status"),
    [
        (
            {"event_name": "resolved_item", "data": {"item": {"title": "NameError", "id": 7}}},
            "NameError",
            "resolved",
        ),
        (
            {"data": {"attributes": {"name": "shop", "resolved_at": "2026-01-01T00:00:00Z"}}},
            "shop",
            "resolved",
        ),
        ({"data": {"attributes": {"name": "shop", "resolved_at": None}}}, "shop", "firing"),
        (
            {"account": {"name": "Acme"}, "error": {"message": "oh no", "status": "open"}},
            "oh no",
            "firing",
        ),
        (
            {"type": "uptimeCheckRecoveredNotification", "site": {"url": "https://shop.example"}},
            "https://shop.example",
            "resolved",
        ),
        ({"Name": "HighCPU", "TriggerType": "ResolvedCritical"}, "HighCPU", "resolved"),
        ({"page": {"name": "Acme"}, "incident": {"name": "Slow"}}, "Slow", "firing"),
        ({"content": "db-1 does not answer"}, "db-1 does not answer", "firing"),
        ({"alerts": [{"status": "resolved", "labels": {"alertname": "A"}}]}, "A", "resolved"),
    ],
    ids=str,
)
def test_shapes_that_senders_are_known_for_are_read(body, title, status):
    alert = one(body)
    assert (alert.title, alert.status) == (title, status)


def test_what_a_controller_tells_of_an_object_is_about_that_object():
    about = {"kind": "Kustomization", "namespace": "flux-system", "name": "apps"}
    body = {"involvedObject": about, "message": "apply failed", "severity": "error"}
    assert one(body).fingerprint == one(body | {"message": "apply failed again"}).fingerprint
    assert one(body).labels["namespace"] == "flux-system"


def test_the_example_of_the_page_reads_what_it_is_about():
    page = (Path(__file__).parents[3] / "docs" / "sources.md").read_text(encoding="utf-8")
    example = page.partition("```toml\n[ingest.generic_sources.")[2].partition("```")[0]
    table = tomllib.loads(f"[{example}")["kapacitor"]
    body = {
        "id": "cpu:host=web-1",
        "message": "cpu:host=web-1 is OK",
        "time": "2026-01-01T00:00:00Z",
        "level": "OK",
        "data": {"series": [{"name": "cpu", "tags": {"host": "web-1", "region": "eu"}}]},
    }
    (alert,) = described(body, **table)
    assert (alert.title, alert.status) == ("cpu:host=web-1", "resolved")
    assert alert.labels == {"host": "web-1", "region": "eu"}
