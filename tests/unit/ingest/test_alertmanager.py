"""What a real Alertmanager sends, and what becomes of it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tocsin_contracts import AlertStatus, Severity
from tocsin_ingest import admission
from tocsin_ingest.ports import BadPayloadError, Delivery
from tocsin_ingest.sources.alertmanager import Alertmanager
from tocsin_testing.readings import RECEIVED, alerts_of

FOLDER = Path(__file__).parent / "payloads" / "alertmanager"
PAYLOADS = sorted(FOLDER.glob("am025_*_0[1-9].json"))
REPLICAS = frozenset({"prometheus_replica"})


def sent(name):
    return json.loads((FOLDER / f"am025_{name}.json").read_bytes())


def read(name):
    return alerts_of("alertmanager", sent(name), replicas=REPLICAS)


def one(**changes):
    alert = {"status": "firing", "labels": {"alertname": "A"}}
    return alerts_of("alertmanager", {"alerts": [alert | changes]}, replicas=REPLICAS)[0]


@pytest.mark.parametrize("path", PAYLOADS, ids=lambda path: path.stem)
def test_p1_every_alert_of_a_notification_is_read_as_it_was_sent(path):
    payload = json.loads(path.read_bytes())
    alerts = Alertmanager().parse(Delivery(payload=payload, received_at=RECEIVED))
    assert [alert.labels for alert in alerts] == [raw["labels"] for raw in payload["alerts"]]
    assert [alert.status for alert in alerts] == [raw["status"] for raw in payload["alerts"]]
    assert all(alert.starts_at and alert.starts_at.tzinfo for alert in alerts)


@pytest.mark.parametrize(
    ("name", "title", "kind", "workload"),
    [
        ("oom_killed_01", "KubeContainerOOMKilled", "StatefulSet", "recommender"),
        ("single_crashloop_01", "KubePodCrashLooping", "Deployment", "cart"),
        ("image_pull_01", "KubePodImagePullBackOff", "Deployment", "ads"),
        ("job_failed_01", "KubeCronJobFailed", "CronJob", "nightly"),
        ("hostile_annotation_01", "HostileAnnotation", "Deployment", "cart"),
    ],
)
def test_an_alert_names_its_workload(name, title, kind, workload):
    (alert,) = read(name)
    assert (alert.title, alert.workload.kind, alert.workload.name) == (title, kind, workload)


def test_the_status_of_each_alert_counts_and_not_that_of_its_group():
    payload = sent("mixed_firing_resolved_03")
    payload["status"] = "firing"
    alerts = alerts_of("alertmanager", payload, replicas=REPLICAS)
    assert {alert.status for alert in alerts} == {AlertStatus.RESOLVED}
    assert all(alert.ends_at for alert in alerts)


def test_two_replicas_of_a_sender_tell_of_one_alert():
    first, second = read("ha_replicas_02")
    assert first.labels != second.labels
    assert first.fingerprint == second.fingerprint


def test_an_end_that_is_not_known_is_none():
    assert {alert.ends_at for alert in read("oom_killed_01")} == {None}


def test_a_start_is_exact_to_the_microsecond_whatever_its_zone():
    at = datetime(2026, 11, 30, 20, 40, 45, 45819, tzinfo=UTC)
    assert read("oom_killed_01")[0].starts_at == at
    assert one(startsAt="2026-12-01T02:10:45.045819123+05:30").starts_at == at


def test_values_that_look_like_other_types_stay_text():
    (alert,) = read("typey_values_01")
    assert (alert.labels["t"], alert.labels["oct"], alert.labels["sp"]) == ("true", "0123", " lead")


def test_p9_hostile_text_is_carried_along_and_decides_nothing():
    (alert,) = read("hostile_annotation_01")
    assert "kubectl delete" in alert.annotations["description"]
    assert admission.incident_key(alert) == "workload|prod-eu-1|shop|cart"


def test_a_severity_is_read_however_it_is_spelt():
    alerts = read("severity_case_01")
    assert {alert.severity_given: alert.severity for alert in alerts} == {
        "CRITICAL": Severity.CRITICAL,
        "Critical": Severity.CRITICAL,
        "crit": Severity.CRITICAL,
        "P1": Severity.CRITICAL,
        "error": Severity.CRITICAL,
        "page": Severity.CRITICAL,
        "warn": Severity.WARNING,
        "info": Severity.INFO,
        "none": Severity.NONE,
    }


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        ("warning", Severity.WARNING),
        (" Warning ", Severity.WARNING),
        ("sev2", Severity.WARNING),
        ("P5", Severity.INFO),
        ("notice", Severity.INFO),
        ("disaster", Severity.CRITICAL),
        ("", Severity.UNKNOWN),
        ("purple", Severity.UNKNOWN),
        ("very critical", Severity.UNKNOWN),
    ],
)
def test_a_severity_that_is_not_known_is_never_guessed(given, severity):
    alert = one(labels={"alertname": "A", "severity": given})
    assert (alert.severity, alert.severity_given) == (severity, given)


@pytest.mark.parametrize(
    ("link", "kept"),
    [
        ("http://prometheus/graph", "http://prometheus/graph"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("", ""),
    ],
)
def test_p9_only_a_web_address_is_kept_as_a_link(link, kept):
    assert one(generatorURL=link).link == kept


def test_the_summary_is_the_description_where_there_is_none():
    assert one(annotations={"description": "d"}).summary == "d"
    assert one(annotations={"description": "d", "summary": "s"}).summary == "s"


def test_an_alert_without_a_name_is_not_lost():
    assert one(labels={"x": "y"}).title == "unnamed alert"


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({}, "alerts: Field required"),
        ({"alerts": []}, "alerts: there is none, and no status of the group"),
        ({"alerts": None}, "alerts: Input should be a valid list"),
        ({"alerts": [{}]}, "alerts.0.labels: Field required"),
        ({"alerts": [{"labels": {"a": "b"}}]}, "an alert without status"),
        ({"alerts": [{"status": "firing", "labels": {}}]}, "alerts.0.labels: Dictionary should"),
        ({"alerts": [{"status": "pending", "labels": {"a": "b"}}]}, "alerts.0.status: Input"),
        ({"alerts": [{"status": "firing", "labels": {"a": 1}}]}, "alerts.0.labels.a: Input"),
        (
            {"alerts": [{"status": "firing", "labels": {"a": "b"}, "startsAt": "yesterday"}]},
            "alerts.0.startsAt: Value error, no time: 'yesterday'",
        ),
    ],
)
def test_what_is_no_notification_is_refused_by_the_name_of_the_field(payload, reason):
    with pytest.raises(BadPayloadError) as refused:
        alerts_of("alertmanager", payload, replicas=REPLICAS)
    assert reason in str(refused.value)


def test_an_alert_that_says_no_status_has_that_of_its_group():
    payload = {"status": "resolved", "alerts": [{"labels": {"alertname": "A"}}]}
    assert alerts_of("alertmanager", payload)[0].status is AlertStatus.RESOLVED


@pytest.mark.parametrize(
    ("ends_at", "status"),
    [
        ("2026-01-01T11:59:00Z", AlertStatus.RESOLVED),
        ("2026-01-01T12:01:00Z", AlertStatus.FIRING),
        ("0001-01-01T00:00:00Z", AlertStatus.FIRING),
    ],
)
def test_where_no_status_is_said_an_alert_is_over_once_its_end_has_passed(ends_at, status):
    alert = {"labels": {"alertname": "A"}, "endsAt": ends_at}
    assert alerts_of("alertmanager", {"alerts": [alert]})[0].status is status


def test_a_notification_of_no_alerts_tells_of_none():
    assert alerts_of("alertmanager", {"status": "firing", "alerts": []}) == []


def test_a_link_without_a_host_is_that_of_the_sender_or_left_out():
    payload = {
        "externalURL": "http://mimir:9093/base/",
        "alerts": [
            {"status": "firing", "labels": {"alertname": "A"}, "generatorURL": url}
            for url in ("/graph?g0.expr=up", "javascript:alert(1)", "", "//other/graph")
        ],
    }
    sources = [alert.links.get("source") for alert in alerts_of("alertmanager", payload)]
    assert sources == ["http://mimir:9093/graph?g0.expr=up", None, None, "http://other/graph"]


def test_absent_members_of_a_group_and_the_key_of_the_group_say_nothing():
    """Two groups may have one key; which alerts are meant, their labels say."""
    first, second = (
        {"groupKey": "{}", "alerts": [{"status": "firing", "labels": {"alertname": "A", "p": p}}]}
        for p in "12"
    )
    (one,), (other,) = alerts_of("alertmanager", first), alerts_of("alertmanager", second)
    assert one.fingerprint != other.fingerprint


def test_only_the_labels_that_are_named_are_identity_where_some_are_named():
    payload = {
        "alerts": [
            {"status": "firing", "labels": {"alertname": "A", "dc": dc, "group": group}}
            for dc, group in (("1", "a"), ("1", "b"), ("2", "a"))
        ]
    }
    a, b, c = alerts_of("alertmanager", payload, only=("alertname", "group"))
    assert a.fingerprint == c.fingerprint != b.fingerprint
