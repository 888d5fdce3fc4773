"""What holds for every sender: who an alert is does not change with how it is, or its words."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_testing.readings import alerts_of

ORDERS = st.randoms(use_true_random=False)


def alertmanager(over, word, at):
    return {
        "status": "firing",
        "groupKey": word,
        "alerts": [
            {
                "status": "resolved" if over else "firing",
                "labels": {"alertname": "A", "namespace": "shop", "pod": "cart-0"},
                "annotations": {"summary": word},
                "startsAt": at,
                "endsAt": at if over else "0001-01-01T00:00:00Z",
            }
        ],
    }


def grafana(over, word, at):
    sent = alertmanager(over, word, at)
    sent["alerts"][0] |= {"fingerprint": "c6eadffa33fcdf37", "valueString": word, "values": None}
    sent["alerts"][0]["labels"]["severity"] = word
    return sent


def pagerduty(over, word, at):
    incident = {"id": "P1", "type": "incident", "title": word, "priority": {"summary": word}}
    status = "resolved" if over else "acknowledged"
    data = incident | {"status": status, "created_at": at, "service": {"summary": "cart"}}
    return {"event": {"event_type": f"incident.{status}", "occurred_at": at, "data": data}}


def pagerduty_events(over, word, at):
    said = {"summary": word, "source": "cart", "severity": word, "timestamp": at}
    action = "resolve" if over else "trigger"
    return {"routing_key": "r", "event_action": action, "dedup_key": "d", "payload": said}


def opsgenie(over, word, at):
    alert = {"alertId": word, "alias": "a", "message": word, "priority": word, "createdAt": at}
    return {"action": "Close" if over else "Create", "alert": alert | {"updatedAt": at}}


def victorops(over, word, at):
    kind = "RECOVERY" if over else "CRITICAL"
    return {"message_type": kind, "entity_id": "e", "state_message": word, "timestamp": at}


def datadog(over, word, at):
    state = "Recovered" if over else "Triggered"
    return {
        "id": word,
        "title": f"[{state} on {{kube_namespace:shop,pod_name:cart-0}}] CPU",
        "body": word,
        "alert_transition": state,
        "alert_id": 17,
        "alert_priority": word,
        "date": at,
    }


def datadog_default(over, word, at):
    state = "[P2] [Recovered]" if over else "[P2] [Re-Triggered]"
    return {"id": word, "title": f"{state} CPU is high", "body": word, "date": at}


def newrelic(over, word, at):
    state = "CLOSED" if over else "ACTIVATED"
    return {"issueId": "i", "title": word, "priority": word, "state": state, "createdAt": at}


def newrelic_legacy(over, word, at):
    event = "INCIDENT_RESOLVED" if over else "INCIDENT_OPEN"
    state = "closed" if over else "open"
    said = {"incident_id": 7, "condition_name": "Down", "severity": word, "details": word}
    return said | {"event_type": event, "current_state": state, "timestamp": at}


def dynatrace(over, word, at):
    state = "RESOLVED" if over else "OPEN"
    problem = {"PID": "-1_2V2", "ProblemID": "P-1", "ProblemTitle": word, "State": state}
    return problem | {"ProblemDetailsJSON": {"startTime": at, "endTime": -1}}


def dynatrace_workflow(over, word, at):
    status = "CLOSED" if over else "ACTIVE"
    return {"display_id": "P-1", "event.name": word, "event.status": status, "event.start": at}


def zabbix(over, word, at):
    value = "0" if over else "1"
    said = {"trigger_id": 5, "event_id": word, "event_value": value, "event_timestamp": at}
    return said | {"title": word, "event_nseverity": "4"}


def zabbix_words(over, word, at):
    del at
    status = "RESOLVED" if over else "PROBLEM"
    return {
        "hostname": "h",
        "trigger": word,
        "status": status,
        "link": f"https://z.example.com/tr_events.php?triggerid=14&eventid={int(over)}",
    }


def sentry(over, word, at):
    issue = {"id": "9", "title": word, "level": word, "firstSeen": at, "project": {"slug": "p"}}
    return {"action": "resolved" if over else "unresolved", "data": {"issue": issue}}


def sentry_metric(over, word, at):
    rule = {"id": 7, "name": "Too many errors"}
    metric = {"id": word, "title": word, "alert_rule": rule, "date_started": at}
    return {"action": "resolved" if over else "critical", "data": {"metric_alert": metric}}


def kibana(over, word, at):
    group = "recovered" if over else "threshold met"
    alert = {"id": "host-1", "uuid": word, "actionGroup": group}
    return {"rule": {"id": "r", "name": "CPU"}, "alert": alert, "message": word, "date": at}


def uptime_kuma(over, word, at):
    beat = {"status": int(over), "time": at, "msg": word}
    return {"heartbeat": beat, "monitor": {"id": 3, "name": "Shop"}, "msg": word}


def bigpanda(over, word, at):
    status = "ok" if over else "warning"
    said = {"app_key": "k", "host": "h", "check": "CPU", "description": word}
    return said | {"status": status, "timestamp": at}


def bigpanda_incident(over, word, at):
    alert = {"id": "a", "status": "ok" if over else "critical", "description": word}
    return {"id": word, "active": True, "alerts": [alert | {"startedOn": at}]}


SENDERS = {
    build.__name__: build
    for build in (
        *(alertmanager, grafana, pagerduty, pagerduty_events, opsgenie, victorops, datadog),
        *(datadog_default, newrelic, newrelic_legacy, dynatrace, dynatrace_workflow, zabbix),
        *(zabbix_words, sentry, sentry_metric, kibana, uptime_kuma, bigpanda, bigpanda_incident),
    )
}
SOURCES = {
    "datadog_default": "datadog",
    "newrelic_legacy": "newrelic",
    "dynatrace_workflow": "dynatrace",
    "zabbix_words": "zabbix",
    "sentry_metric": "sentry",
    "bigpanda_incident": "bigpanda",
}
EVERY_SENDER = pytest.mark.parametrize("sender", SENDERS)
WORD = st.text("abcXYZ 19%é-", min_size=1, max_size=12).map(lambda text: f"w{text}")
AT = st.sampled_from(["2026-01-01T09:00:00Z", "2026-01-01T11:30:00.123456789+02:00"])


def read(sender, payload):
    return alerts_of(SOURCES.get(sender, sender), payload)


def shuffled(value, order):
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: shuffled(value[name], order) for name in names}
    return [shuffled(inner, order) for inner in value] if isinstance(value, list) else value


@settings(max_examples=8)
@given(words=st.tuples(WORD, WORD), times=st.tuples(AT, AT))
def test_a_problem_stays_the_same_whatever_becomes_of_it(words, times):
    for sender, build in SENDERS.items():
        stays_the_same(sender, build, words, times)


def stays_the_same(sender, build, words, times):
    (first,) = read(sender, build(False, words[0], times[0]))
    (again,) = read(sender, build(False, words[1], times[1]))
    (over,) = read(sender, build(True, words[1], times[1]))
    statuses = [one.status for one in (first, again, over)]
    assert statuses == ["firing", "firing", "resolved"], sender
    assert first.fingerprint == again.fingerprint == over.fingerprint, sender


@settings(max_examples=5)
@given(order=ORDERS)
def test_the_order_of_what_a_sender_says_never_matters(order):
    for sender, build in SENDERS.items():
        payload = build(False, "w", "2026-01-01T09:00:00Z")
        assert read(sender, shuffled(payload, order)) == read(sender, payload), sender


@EVERY_SENDER
def test_a_sender_that_is_another_instance_tells_of_other_problems(sender):
    payload = SENDERS[sender](False, "w", "2026-01-01T09:00:00Z")
    source = SOURCES.get(sender, sender)
    here, there = (alerts_of(source, payload, instance=instance)[0] for instance in ("a", "b"))
    assert here.fingerprint != there.fingerprint


@EVERY_SENDER
def test_hostile_links_and_unfilled_times_do_no_harm(sender):
    text = json.dumps(SENDERS[sender](False, "w", "{{ when }}"))
    (alert,) = read(sender, json.loads(text))
    assert alert.starts_at is None
    assert all(to.startswith("https://") for to in alert.links.values())
