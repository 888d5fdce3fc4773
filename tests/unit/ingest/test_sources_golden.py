"""What senders send becomes what a person reads in it: `<payload>.golden.json` beside each."""

import json
from datetime import datetime
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tocsin_testing.readings import alerts_of

FOLDER = Path(__file__).parent / "payloads"
GOLDEN = sorted(FOLDER.glob("*/*.golden.json"))
NAMES = [path.parent.name + "/" + path.name.removesuffix(".golden.json") for path in GOLDEN]
PAIRS = [
    ("grafana", "alerta_grafana_alert_alerting", "alerta_grafana_alert_ok"),
    ("grafana", "pagertree_create", "pagertree_resolve"),
    ("pagerduty_events", "am025_pagerduty_events_v2_01", "am025_pagerduty_events_v2_02"),
    ("datadog", "pagertree_retriggered", "pagertree_resolve"),
    ("newrelic", "pagertree_create_2", "pagertree_resolve_2"),
    ("newrelic", "pagertree_acknowledge", "pagertree_resolve"),
    ("dynatrace", "pagertree_create", "pagertree_resolve"),
    ("zabbix", "pagertree_create", "pagertree_resolve"),
    ("kibana", "own_threshold_active", "own_threshold_recovered"),
    ("uptime_kuma", "pagertree_create", "pagertree_resolve"),
    ("bigpanda", "own_critical", "own_ok"),
    ("alertmanager", "am025_flap_03", "am025_flap_02"),
    ("alertmanager", "am025_from_prometheus_01", "am025_from_prometheus_08"),
]


def read(source, name):
    json_file, form_file = (FOLDER / source / f"{name}.{kind}" for kind in ("json", "txt"))
    if form_file.exists():
        payload = dict(parse_qsl(form_file.read_text(), keep_blank_values=True))
    else:
        payload = json.loads(json_file.read_bytes())
    beside = FOLDER / source / f"{name}.headers.json"
    headers = json.loads(beside.read_bytes()) if beside.exists() else {}
    return alerts_of(source, payload, headers=headers)


def seen(alert, expected):
    """Return of an alert what the golden file says of it."""
    at = alert.workload
    fields = {
        "title": alert.title,
        "status": alert.status,
        "severity": alert.severity,
        "starts_at": alert.starts_at,
        "ends_at": alert.ends_at,
        "workload": at and [at.cluster, at.namespace, at.kind, at.name],
    }
    return {name: fields[name] for name in expected}


def instants(row):
    times = {name: row[name] and datetime.fromisoformat(row[name]) for name in TIMES}
    return row | times


TIMES = ("starts_at", "ends_at")


@pytest.mark.parametrize("name", NAMES)
def test_what_a_sender_sends_is_read_as_a_person_reads_it(name):
    golden = json.loads((FOLDER / f"{name}.golden.json").read_bytes())
    alerts = read(*name.split("/"))
    assert len(alerts) == len(golden)
    assert [seen(alert, row) for alert, row in zip(alerts, golden, strict=True)] == [
        instants(row) for row in golden
    ]


@pytest.mark.parametrize(("source", "firing", "resolved"), PAIRS)
def test_a_problem_is_the_same_when_it_is_over(source, firing, resolved):
    (first,), (last,) = read(source, firing), read(source, resolved)
    assert (first.status, last.status) == ("firing", "resolved")
    assert first.fingerprint == last.fingerprint


@pytest.mark.parametrize("source", sorted({path.parent.name for path in GOLDEN}))
def test_enough_payloads_of_a_sender_were_read_by_a_person(source):
    """All of Alertmanager and Grafana, three of each other one, or all where there are fewer."""
    folder = FOLDER / source
    plain = ([".json"], [".txt"])
    payloads = {path.name.split(".")[0] for path in folder.iterdir() if path.suffixes in plain}
    golden = {path.name.split(".")[0] for path in folder.glob("*.golden.json")}
    assert golden <= payloads
    whole = source in ("alertmanager", "grafana")
    assert len(golden) >= (len(payloads) if whole else min(3, len(payloads)))
