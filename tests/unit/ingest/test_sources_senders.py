"""What is particular to a sender, and what it must not be taken for."""

from datetime import UTC, datetime

import pytest

from tocsin_ingest.ports import BadPayloadError
from tocsin_testing.readings import alerts_of

AT = datetime(2026, 1, 1, 9, tzinfo=UTC)
WHEN = "2026-01-01T09:00:00Z"


def one(source, payload, **more):
    (alert,) = alerts_of(source, payload, **more)
    return alert


def place(alert):
    at = alert.workload
    return at and (at.cluster, at.namespace, at.kind, at.name, at.container)


def rule(**more):
    return {"ruleName": "CPU", "ruleId": 7, "state": "alerting"} | more


def pagerduty(event_type, **data):
    incident = {"id": "P1", "type": "incident", "title": "A", "created_at": WHEN} | data
    return {"event": {"event_type": event_type, "occurred_at": WHEN, "data": incident}}


def opsgenie(action, **alert):
    return {"action": action, "alert": {"alertId": "i", "message": "A"} | alert}


def test_an_instance_that_vanishes_from_a_legacy_grafana_rule_is_over_with_its_rule():
    matches = [{"metric": "cpu", "value": 9, "tags": {"instance": name}} for name in "ab"]
    two, less, none = (
        one("grafana", rule(evalMatches=matches)),
        one("grafana", rule(evalMatches=matches[:1])),
        one("grafana", rule(state="ok", evalMatches=None)),
    )
    assert (two.status, less.status, none.status) == ("firing", "firing", "resolved")
    assert two.fingerprint == less.fingerprint == none.fingerprint


@pytest.mark.parametrize("state", ["paused", "pending", "unknown"])
def test_a_grafana_rule_that_nobody_evaluates_tells_nothing(state):
    assert alerts_of("grafana", rule(state=state)) == []


def test_a_grafana_rule_without_data_still_fires():
    assert one("grafana", rule(state="no_data", ruleUrl="dontcare")).status == "firing"


def test_a_grafana_alert_without_labels_is_known_by_its_fingerprint():
    alert = {"status": "firing", "labels": {}, "fingerprint": "57c6d9296de2ad39"}
    assert one("grafana", {"status": "firing", "alerts": [alert]}).title == "unnamed alert"
    with pytest.raises(BadPayloadError, match="without labels and fingerprint"):
        alerts_of("grafana", {"status": "firing", "alerts": [alert | {"fingerprint": ""}]})


def test_grafanas_links_go_by_their_names():
    urls = {"generatorURL": "/a", "panelURL": "https://g/b", "silenceURL": "javascript:c"}
    alert = {"status": "firing", "labels": {"alertname": "A"}} | urls
    sent = {"status": "firing", "externalURL": "https://g/", "alerts": [alert]}
    expected = {"source": "https://g/a", "panel": "https://g/b", "sender": "https://g/"}
    assert one("grafana", sent).links == expected


@pytest.mark.parametrize(
    "kind",
    [
        *("incident_note", "incident_responder", "incident_status_update", "ping"),
        *("incident_conference_bridge", "incident_workflow_instance", "service"),
    ],
)
def test_what_happens_around_a_pagerduty_incident_is_no_alert(kind):
    assert alerts_of("pagerduty", pagerduty("incident.annotated", type=kind, id=None)) == []


def test_a_pagerduty_incident_that_is_reopened_begins_anew():
    earlier = "2025-12-31T00:00:00Z"
    again = pagerduty("incident.reopened", status="triggered", created_at=earlier)
    assert one("pagerduty", again).starts_at == AT


def test_a_pagerduty_priority_says_more_than_an_urgency():
    sent = pagerduty("incident.triggered", urgency="high", priority={"summary": "P3"})
    assert one("pagerduty", sent).severity == "warning"
    assert one("pagerduty", pagerduty("incident.triggered", urgency="low")).severity == "info"


def test_several_pagerduty_events_of_one_request_are_several_alerts():
    events = [{"event_action": "resolve", "dedup_key": key} for key in "ab"]
    assert len({alert.fingerprint for alert in alerts_of("pagerduty_events", events)}) == 2
    assert alerts_of("pagerduty_events", {"events": events}) == alerts_of(
        "pagerduty_events", events
    )


def test_a_pagerduty_event_without_a_key_is_who_its_source_is_and_not_what_it_says():
    first, second = (
        one(
            "pagerduty_events",
            {"event_action": "trigger", "payload": {"summary": text, "source": "web-1"}},
        )
        for text in ("CPU is at 97 %", "CPU is at 98 %")
    )
    assert first.fingerprint == second.fingerprint
    with pytest.raises(BadPayloadError, match="dedup_key"):
        alerts_of("pagerduty_events", {"event_action": "resolve"})


def test_the_routing_key_of_pagerduty_is_not_kept():
    sent = {"routing_key": "hush", "event_action": "trigger", "dedup_key": "d", "payload": {}}
    assert "hush" not in one("pagerduty_events", sent).model_dump_json()


@pytest.mark.parametrize("action", ["AddNote", "AddTags", "TakeOwnership", "Snooze", "MyAction"])
def test_what_somebody_does_to_an_opsgenie_alert_is_no_alert(action):
    assert alerts_of("opsgenie", opsgenie(action)) == []


@pytest.mark.parametrize(
    ("action", "status"),
    [
        ("Create", "firing"),
        ("Acknowledge", "firing"),
        ("UpdatePriority", "firing"),
        ("Close", "resolved"),
        ("Delete", "resolved"),
    ],
)
def test_an_opsgenie_alert_is_over_when_it_is_closed_or_deleted(action, status):
    assert one("opsgenie", opsgenie(action)).status == status


def test_an_alert_for_opsgenies_api_is_read_with_its_details():
    details = {"namespace": "shop", "deployment": "cart", "cluster": "eu"}
    sent = {"message": "A", "alias": "a", "priority": "P1", "details": details}
    alert = one("opsgenie", sent)
    assert (alert.severity, place(alert)) == ("critical", ("eu", "shop", "Deployment", "cart", ""))


def test_a_victorops_webhook_says_in_its_phase_that_an_incident_is_over():
    sent = {"ALERT.message_type": "CRITICAL", "ALERT.entity_id": "e"}
    over = sent | {"INCIDENT.CURRENT_PHASE": "RESOLVED"}
    assert one("victorops", sent | {"INCIDENT.CURRENT_PHASE": "UNACKED"}).status == "firing"
    assert one("victorops", over).status == "resolved"
    assert one("victorops", over).fingerprint == one("victorops", sent).fingerprint


def test_a_form_of_victorops_is_read_like_its_json():
    quoted = {"entity_id": '"e"', "message_type": '"RECOVERY"', "entity_display_name": '"A"'}
    plain = {"entity_id": "e", "message_type": "RECOVERY", "entity_display_name": "A"}
    assert one("victorops", quoted) == one("victorops", plain)


@pytest.mark.parametrize(
    ("title", "name", "status", "severity"),
    [
        ("[Triggered] CPU", "CPU", "firing", "unknown"),
        ("[P1] [Triggered on {host:a}] CPU", "CPU", "firing", "critical"),
        ("[P4] [Warn on {host:a,env:b}] CPU", "CPU", "firing", "info"),
        ("[Warn] CPU", "CPU", "firing", "warning"),
        ("[Re-Triggered] CPU", "CPU", "firing", "unknown"),
        ("[No data on {host:a}] CPU", "CPU", "firing", "unknown"),
        ("[Recovered on {host:a}] CPU", "CPU", "resolved", "unknown"),
        ("[Triggered] [TEST] CPU", "[TEST] CPU", "firing", "unknown"),
        ("[cart] CPU", "[cart] CPU", "firing", "unknown"),
    ],
)
def test_datadogs_default_body_says_its_state_in_its_title(title, name, status, severity):
    alert = one("datadog", {"id": "1", "title": title, "date": "1767258000000"})
    assert (alert.title, alert.status, alert.severity) == (name, status, severity)


def test_a_datadog_alert_of_another_host_is_another_alert():
    a, b = (
        one("datadog", {"title": f"[Triggered on {{host:{host}}}] CPU", "alert_id": 5})
        for host in "ab"
    )
    assert a.fingerprint != b.fingerprint


def test_a_datadog_alert_told_again_does_not_begin_again():
    sent = {"title": "[Triggered] CPU", "date": 1767258000000}
    assert one("datadog", sent).starts_at == AT
    assert one("datadog", sent | {"alert_transition": "Re-Triggered"}).starts_at is None


def test_the_priority_of_a_datadog_event_is_no_severity():
    sent = {"title": "CPU", "PRIORITY": "normal"}
    assert one("datadog", sent).severity == "unknown"
    assert one("datadog", sent | {"ALERT_TYPE": "error"}).severity == "critical"
    assert one("datadog", sent | {"alert": {"priority": "P2"}}).severity == "warning"


def test_datadogs_tags_say_what_it_is_about():
    tags = "env:prod,kube_namespace:shop,kube_deployment:cart,kube_cluster_name:eu,monitor"
    sent = {"title": "CPU", "tags": tags, "alert_scope": "kube_container_name:web"}
    assert place(one("datadog", sent)) == ("eu", "shop", "Deployment", "cart", "web")


def test_new_relics_targets_say_what_it_is_about():
    labels = {"namespaceName": "shop", "deploymentName": "cart", "clusterName": "eu"}
    sent = {"incident_id": 1, "condition_name": "A", "current_state": "open"}
    alert = one("newrelic", sent | {"targets": [{"name": "x", "labels": labels}]})
    assert place(alert) == ("eu", "shop", "Deployment", "cart", "")


def test_a_new_relic_incident_begins_when_it_opens():
    sent = {"incident_id": 1, "condition_name": "A", "timestamp": 1767258000000}
    assert one("newrelic", sent | {"current_state": "open"}).starts_at == AT
    assert one("newrelic", sent | {"current_state": "acknowledged"}).starts_at is None
    assert one("newrelic", sent | {"current_state": "closed"}).ends_at == AT


def test_a_dynatrace_problem_names_what_it_strikes_and_begins_when_its_details_say():
    entities = [
        {"type": "CLOUD_APPLICATION", "name": "cart", "entity": "CLOUD_APPLICATION-1"},
        {"type": "CLOUD_APPLICATION_NAMESPACE", "name": "shop"},
        {"type": "KUBERNETES_CLUSTER", "name": "eu"},
    ]
    details = {"startTime": 1767258000000, "endTime": -1}
    sent = {"PID": "1", "ProblemTitle": "A", "State": "OPEN", "ProblemSeverity": "AVAILABILITY"}
    alert = one("dynatrace", sent | {"ImpactedEntities": entities, "ProblemDetailsJSON": details})
    assert (alert.starts_at, alert.ends_at, alert.severity) == (AT, None, "critical")
    assert place(alert) == ("eu", "shop", "", "cart", "")


@pytest.mark.parametrize("details", ["ProblemDetails", "ProblemDetailsJSONv2"])
def test_a_dynatrace_problem_may_say_in_any_details_what_it_is(details):
    said = {"startTime": 1767258000000, "severityLevel": "PERFORMANCE"}
    alert = one("dynatrace", {"PID": "1", "ProblemTitle": "A", "State": "OPEN", details: said})
    assert (alert.starts_at, alert.severity) == (AT, "warning")


@pytest.mark.parametrize(
    ("state", "status"), [("OPEN", "firing"), ("RESOLVED", "resolved"), ("MERGED", "resolved")]
)
def test_a_dynatrace_problem_that_became_part_of_another_is_over(state, status):
    sent = {"ProblemID": "P-1", "ProblemTitle": "A", "State": state}
    assert one("dynatrace", sent).status == status


def test_a_splunk_search_is_who_it_is_whatever_it_finds():
    sent = {"search_name": "errors", "app": "shop", "sid": "scheduler__a__b_at_1767258000_7"}
    found = {"_time": "nonsense", "severity": "high", "namespace": "shop", "deployment": "cart"}
    first, second = one("splunk", sent), one("splunk", sent | {"result": found})
    assert first.fingerprint == second.fingerprint
    assert (first.starts_at, second.starts_at, second.severity) == (AT, AT, "critical")
    assert place(second) == ("", "shop", "Deployment", "cart", "")


@pytest.mark.parametrize(
    ("number", "severity"),
    [("0", "unknown"), ("1", "info"), ("2", "warning"), ("3", "warning"), (5, "critical")],
)
def test_zabbix_counts_severities_upwards(number, severity):
    sent = {"trigger_id": "1", "title": "A", "event_nseverity": number}
    assert one("zabbix", sent).severity == severity


def test_zabbix_tags_are_read_in_either_form():
    sent = {"trigger_id": "1", "title": "A"}
    objects = [{"tag": "namespace", "value": "shop"}, {"tag": "pod", "value": "db-0"}]
    for tags in ("namespace:shop, pod:db-0, plain", objects):
        alert = one("zabbix", sent | {"event_tags": tags})
        assert place(alert) == ("", "shop", "StatefulSet", "db", "")


def test_a_zabbix_alert_that_names_nothing_is_refused():
    with pytest.raises(BadPayloadError, match="trigger_id: Field required"):
        alerts_of("zabbix", {"subject": "A", "message": "B"})


@pytest.mark.parametrize("action", ["assigned", "archived", "ignored"])
def test_what_somebody_does_to_a_sentry_issue_is_no_alert(action):
    assert alerts_of("sentry", {"action": action, "data": {"issue": {"id": 1, "title": "A"}}}) == []


@pytest.mark.parametrize("resource", ["installation", "comment"])
def test_what_is_no_problem_of_sentrys_is_no_alert(resource):
    headers = {"sentry-hook-resource": resource}
    assert alerts_of("sentry", {"action": "created", "data": {}}, headers=headers) == []


def test_an_alert_of_a_sentry_event_is_that_of_its_issue():
    event = {"title": "A", "issue_url": "https://sentry.io/api/0/issues/12/", "datetime": WHEN}
    tags = [["kubernetes.namespace", "shop"], ["kubernetes.pod_name", "cart-0"]]
    alert = one("sentry", {"action": "triggered", "data": {"event": event | {"tags": tags}}})
    issue = {"action": "resolved", "data": {"issue": {"id": "12", "title": "B"}}}
    assert (alert.fingerprint, alert.starts_at) == (one("sentry", issue).fingerprint, AT)
    with pytest.raises(BadPayloadError, match="issue_id: Field required"):
        alerts_of("sentry", {"action": "triggered", "data": {"event": {"title": "A"}}})


@pytest.mark.parametrize(
    ("source", "sent"),
    [
        ("datadog", {"title": "A"}),
        ("newrelic", {"issueId": "i", "title": "A", "state": "ACTIVATED"}),
        ("zabbix", {"trigger_id": "1", "title": "A"}),
        ("kibana", {"name": "A"}),
        ("victorops", {"message_type": "CRITICAL", "entity_id": "e"}),
        ("dynatrace", {"PID": "1", "ProblemTitle": "A", "State": "OPEN"}),
    ],
)
def test_an_operator_may_say_in_the_body_what_it_is_about(source, sent):
    where = {"k8s.cluster.name": "eu", "kubeNamespace": "shop", "pod_name": "db-0"}
    expected = ("eu", "shop", "StatefulSet", "db", "")
    assert place(one(source, sent | where)) == expected
    nested = {"kubernetes": {"cluster": "eu", "namespace": "shop", "pod": "db-0"}}
    assert place(one(source, sent | nested)) == expected


def test_kibanas_texts_lose_their_html_escapes():
    alert = one("kibana", {"name": "a &lt; b", "message": "value &quot;x&quot; &amp; more"})
    assert (alert.title, alert.summary) == ("a < b", 'value "x" & more')


def test_kibanas_older_variables_are_read_too():
    sent = {"alertId": "r", "alertInstanceId": "h", "alertName": "A", "alertActionGroup": "x"}
    over = sent | {"alertActionGroup": "recovered"}
    first, last = one("kibana", sent), one("kibana", over)
    assert (first.status, last.status) == ("firing", "resolved")
    assert first.fingerprint == last.fingerprint


@pytest.mark.parametrize("status", [2, 3])
def test_a_monitor_of_uptime_kuma_that_waits_or_rests_tells_nothing(status):
    sent = {"heartbeat": {"status": status}, "monitor": {"id": 1, "name": "A"}}
    assert alerts_of("uptime_kuma", sent) == []


def test_a_try_of_uptime_kuma_is_no_alert_and_a_warning_without_a_monitor_is_one():
    sent = {"heartbeat": None, "monitor": None}
    assert alerts_of("uptime_kuma", sent | {"msg": "Tocsin Testing"}) == []
    warning = "[A][https://a] Server certificate a will expire in 7 days"
    assert one("uptime_kuma", sent | {"msg": warning}).title == warning


def test_several_alerts_for_bigpanda_share_what_is_said_once():
    sent = {"app_key": "hush", "cluster": "eu", "alerts": [{"host": h} for h in "ab"]}
    alerts = alerts_of("bigpanda", sent | {"status": "critical"})
    assert [alert.labels["host"] for alert in alerts] == ["a", "b"]
    assert "hush" not in "".join(alert.model_dump_json() for alert in alerts)


def test_an_incident_of_bigpanda_that_is_not_active_is_over_with_all_its_alerts():
    alerts = [{"id": "1", "status": "critical"}, {"id": "2", "status": "ok"}]
    sent = {"id": "i", "active": True, "alerts": alerts}
    statuses = [alert.status for alert in alerts_of("bigpanda", sent)]
    assert statuses == ["firing", "resolved"]
    over = [alert.status for alert in alerts_of("bigpanda", sent | {"active": False})]
    assert over == ["resolved", "resolved"]
