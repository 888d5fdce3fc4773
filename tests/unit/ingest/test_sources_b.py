"""The second half of the sources: the envelopes, states and places that their senders know."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tocsin_contracts import AlertStatus, Severity
from tocsin_ingest import sources
from tocsin_ingest.ports import BadPayloadError, Delivery
from tocsin_testing.readings import alerts_of

FOLDER = Path(__file__).parent / "payloads"
PAIRS = [
    ("azure_monitor", "pagertree_create", "pagertree_resolve"),
    ("cloudwatch", "pagertree_create", "pagertree_resolve"),
    ("gcp_monitoring", "pagertree_create", "pagertree_resolve"),
    ("netdata", "own_alert_critical", "own_alert_clear"),
    ("argocd", "own_health_degraded", "own_health_recovered"),
]
AT = datetime(2026, 1, 1, tzinfo=UTC)
ALARM = {
    "AlarmName": "cart-errors",
    "AlarmArn": "arn:aws:cloudwatch:eu-west-1:111122223333:alarm:cart-errors",
    "NewStateValue": "ALARM",
    "StateChangeTime": "2026-01-01T00:00:00.000+0000",
    "Trigger": {
        "MetricName": "pod_number_of_container_restarts",
        "Namespace": "ContainerInsights",
        "Dimensions": [
            {"name": "ClusterName", "value": "prod-eu-1"},
            {"name": "Namespace", "value": "shop"},
            {"name": "PodName", "value": "cart"},
        ],
    },
}
EVENT = {
    "reason": "BackOff",
    "type": "Warning",
    "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "cart-0"},
}


def one(source, payload, **more):
    (alert,) = alerts_of(source, payload, **more)
    return alert


def saved(source, name):
    return json.loads((FOLDER / source / f"{name}.json").read_bytes())


def place(alert):
    at = alert.workload
    return at and (at.cluster, at.namespace, at.kind, at.name)


@pytest.mark.parametrize(("source", "firing", "resolved"), PAIRS)
def test_a_problem_is_the_same_when_it_is_over(source, firing, resolved):
    first, last = one(source, saved(source, firing)), one(source, saved(source, resolved))
    assert (first.status, last.status) == (AlertStatus.FIRING, AlertStatus.RESOLVED)
    assert first.fingerprint == last.fingerprint


def enveloped(message):
    topic = {"TopicArn": "arn:aws:sns:eu-west-1:111122223333:alarms"}
    return {"Type": "Notification", "Message": message, **topic}


@pytest.mark.parametrize(
    "body",
    [
        ALARM,
        enveloped(ALARM),
        enveloped(json.dumps(ALARM)),
        {"Records": [{"Sns": enveloped(json.dumps(ALARM))}]},
        {"Records": [{"body": json.dumps(enveloped(json.dumps(ALARM)))}]},
    ],
    ids=["raw", "object", "text", "lambda", "sqs"],
)
def test_an_alarm_is_the_same_in_every_envelope(body):
    alert = one("cloudwatch", body)
    assert alert == one("cloudwatch", ALARM)
    assert (alert.title, alert.starts_at) == ("cart-errors", AT)
    assert place(alert) == ("prod-eu-1", "shop", "", "cart")


def test_an_alarm_without_data_is_not_over():
    alert = one("cloudwatch", ALARM | {"NewStateValue": "INSUFFICIENT_DATA"})
    assert alert.status is AlertStatus.FIRING


@pytest.mark.parametrize("kind", ["SubscriptionConfirmation", "UnsubscribeConfirmation"])
def test_a_handshake_tells_of_no_alert(kind):
    link = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription"
    body = {"Type": kind, "Message": "You have chosen to subscribe", "SubscribeURL": link}
    assert alerts_of("cloudwatch", body) == []


def test_a_link_that_ends_a_subscription_is_never_shown():
    leave = {"UnsubscribeURL": "https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe"}
    assert one("cloudwatch", enveloped(json.dumps(ALARM)) | leave).links == {}


def test_a_text_on_a_topic_is_an_alert_under_its_subject():
    alert = one("cloudwatch", enveloped("Budget is used up\nby 120 %") | {"Subject": "AWS Budgets"})
    assert (alert.title, alert.summary) == ("AWS Budgets", "Budget is used up\nby 120 %")
    assert one("cloudwatch", enveloped("Budget is used up\nby 120 %")).title == "Budget is used up"


def test_an_empty_message_is_refused():
    with pytest.raises(BadPayloadError, match="Message: it is empty"):
        alerts_of("cloudwatch", enveloped(""))


def test_an_alarm_comes_through_eventbridge_as_well():
    event = {
        "detail-type": "CloudWatch Alarm State Change",
        "source": "aws.cloudwatch",
        "resources": [ALARM["AlarmArn"]],
        "detail": {
            "alarmName": "cart-errors",
            "state": {"value": "OK", "timestamp": "2026-01-01T00:00:00.000+0000"},
        },
    }
    alert = one("eventbridge", event)
    assert (alert.title, alert.status, alert.ends_at) == ("cart-errors", AlertStatus.RESOLVED, AT)
    assert one("cloudwatch", enveloped(json.dumps(event))).title == "cart-errors"


def test_events_of_one_resource_are_one_alert_and_a_good_state_ends_it():
    event = {
        "detail-type": "CodePipeline Pipeline Execution State Change",
        "source": "aws.codepipeline",
        "resources": ["arn:aws:codepipeline:us-east-1:111122223333:shop"],
        "detail": {"pipeline": "shop", "state": "FAILED"},
    }
    over = event | {"detail": {"pipeline": "shop", "state": "SUCCEEDED"}}
    first, last = alerts_of("eventbridge", [event, over])
    assert (first.status, last.status) == (AlertStatus.FIRING, AlertStatus.RESOLVED)
    assert first.fingerprint == last.fingerprint


def azure(context=None, **essentials):
    told = {"alertRule": "restarts", "monitorCondition": "Fired", "severity": "Sev0"}
    return {"data": {"essentials": told | essentials, "alertContext": context}}


def test_azure_tells_the_alerts_of_one_rule_apart_by_dimension():
    def restarts(controller):
        dimensions = [
            {"name": "controllerName", "value": controller},
            {"name": "Kubernetes namespace", "value": "shop"},
        ]
        return {"condition": {"allOf": [{"dimensions": dimensions}]}}

    cluster = "/subscriptions/1/providers/Microsoft.ContainerService/managedClusters/prod-eu-1"
    cart = one("azure_monitor", azure(restarts("cart"), alertTargetIDs=[cluster]))
    ads = one("azure_monitor", azure(restarts("ads"), alertTargetIDs=[cluster]))
    assert cart.fingerprint != ads.fingerprint
    assert place(cart) == ("prod-eu-1", "shop", "", "cart")
    assert cart.severity is Severity.CRITICAL


def test_prometheus_rules_in_azure_keep_their_labels():
    labels = {"alertname": "KubePodCrashLooping", "namespace": "shop", "pod": "cart-0"}
    alert = one("azure_monitor", azure({"labels": labels}))
    assert labels.items() <= alert.labels.items()


def test_a_log_alert_of_old_writes_its_time_as_in_the_united_states():
    data = {"AlertRuleName": "errors", "SearchIntervalEndtimeUtc": "3/22/2019 1:51:31 PM"}
    alert = one("azure_monitor", {"schemaId": "Microsoft.Insights/LogAlert", "data": data})
    assert alert.starts_at == datetime(2019, 3, 22, 13, 51, 31, tzinfo=UTC)


def test_an_incident_of_google_names_the_owner_of_its_pod():
    incident = {
        "state": "open",
        "policy_name": "Restarts",
        "severity": "Warning",
        "resource": {
            "type": "k8s_container",
            "labels": {"cluster_name": "prod", "namespace_name": "shop", "pod_name": "cart-x"},
        },
        "metadata": {
            "system_labels": {
                "top_level_controller_name": "cart",
                "top_level_controller_type": "Deployment",
            }
        },
    }
    alert = one("gcp_monitoring", {"version": "1.2", "incident": incident})
    assert place(alert) == ("prod", "shop", "Deployment", "cart")
    assert alert.severity is Severity.WARNING


def test_two_incidents_of_one_policy_and_resource_are_one_alert():
    sent = saved("gcp_monitoring", "pagertree_create")
    again = {"incident": sent["incident"] | {"incident_id": "0.other", "observed_value": "1"}}
    first, second = one("gcp_monitoring", sent), one("gcp_monitoring", again)
    assert first.fingerprint == second.fingerprint


def test_an_event_that_is_counted_higher_is_the_same_event():
    first = one("kubernetes_event", EVENT | {"count": 1})
    again = one("kubernetes_event", EVENT | {"count": 9, "message": "Back-off 5m0s restarting"})
    assert first.fingerprint == again.fingerprint


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [
        ("ReplicaSet", "cart-6f9d7c9b7c", ("", "shop", "Deployment", "cart")),
        ("Deployment", "cart", ("", "shop", "Deployment", "cart")),
        ("Job", "nightly-28928160", ("", "shop", "CronJob", "nightly")),
        ("Node", "ip-10-0-1-5", None),
        ("PersistentVolumeClaim", "data", None),
    ],
)
def test_an_event_is_about_its_object(kind, name, found):
    about = {"kind": kind, "namespace": "shop", "name": name}
    assert place(one("kubernetes_event", EVENT | {"involvedObject": about})) == found


def test_events_come_alone_in_a_list_or_from_a_watch():
    assert len(alerts_of("kubernetes_event", {"kind": "EventList", "items": [EVENT, EVENT]})) == 2
    assert len(alerts_of("kubernetes_event", [EVENT, EVENT])) == 2
    assert one("kubernetes_event", {"type": "ADDED", "object": EVENT}).title == "BackOff"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"health": "Degraded"}, AlertStatus.FIRING),
        ({"health": "Missing"}, AlertStatus.FIRING),
        ({"health": "Healthy", "sync": "OutOfSync"}, AlertStatus.RESOLVED),
        ({"health": "Healthy", "sync": "Unknown"}, AlertStatus.FIRING),
        ({"health": "Healthy", "phase": "Failed"}, AlertStatus.FIRING),
        ({"sync": "OutOfSync"}, AlertStatus.FIRING),
        ({"sync": "Synced"}, AlertStatus.RESOLVED),
        ({"phase": "Succeeded"}, AlertStatus.RESOLVED),
        ({"health": "<no value>"}, AlertStatus.FIRING),
    ],
    ids=str,
)
def test_an_application_is_over_what_it_had_when_it_is_healthy(sent, status):
    assert one("argocd", {"app": "shop", **sent}).status is status


def test_an_application_may_be_sent_as_it_is():
    app = {"metadata": {"name": "shop"}, "status": {"health": {"status": "Degraded"}}}
    alert = one("argocd", {"app": app})
    assert (alert.title, alert.severity) == ("shop is Degraded", Severity.WARNING)
    assert alert.fingerprint == one("argocd", {"app": "shop", "health": "Healthy"}).fingerprint


def test_falco_tells_the_pod_and_not_the_process():
    fields = {"k8s.ns.name": "shop", "k8s.pod.name": "cart-0", "proc.pid": 1}
    event = {"rule": "Terminal shell", "priority": "Notice", "output_fields": fields}
    first = one("falco", event | {"output_fields": fields | {"evt.time": 1767225600000000000}})
    assert place(first) == ("", "shop", "StatefulSet", "cart")
    assert (first.starts_at, first.severity) == (AT, Severity.INFO)
    again = one("falco", event | {"output_fields": fields | {"proc.pid": 2}})
    assert first.fingerprint == again.fingerprint


def test_graylog_tells_its_events_apart_by_what_they_are_grouped_by():
    def event(pod):
        told = {"priority": 2, "group_by_fields": {"kubernetes_pod_name": pod}}
        return {"event_definition_title": "Errors", "event": told}

    assert one("graylog", event("a")).fingerprint != one("graylog", event("b")).fingerprint
    assert one("graylog", event("a")).severity is Severity.WARNING


@pytest.mark.parametrize(
    ("told", "severity"),
    [
        ({"priority": 1}, Severity.INFO),
        ({"priority": 3}, Severity.CRITICAL),
        ({"fields": {"level": 1}}, Severity.CRITICAL),
        ({"fields": {"level": 4}}, Severity.WARNING),
        ({"priority": 1, "fields": {"level": 1}}, Severity.INFO),
        ({}, Severity.UNKNOWN),
    ],
)
def test_graylogs_priority_ascends_and_the_level_of_a_message_descends(told, severity):
    sent = {"event_definition_title": "Errors", "event": told}
    assert one("graylog", sent).severity is severity


@pytest.mark.parametrize("source", ["nagios", "checkmk"])
@pytest.mark.parametrize(
    ("kind", "state", "status"),
    [
        ("PROBLEM", "CRITICAL", AlertStatus.FIRING),
        ("PROBLEM", "UNKNOWN", AlertStatus.FIRING),
        ("RECOVERY", "OK", AlertStatus.RESOLVED),
        ("ACKNOWLEDGEMENT", "WARNING", AlertStatus.FIRING),
        ("FLAPPINGSTART", "OK", AlertStatus.FIRING),
        ("FLAPPINGSTOP", "OK", AlertStatus.RESOLVED),
        ("", "2", AlertStatus.FIRING),
    ],
)
def test_a_notification_of_a_service_is_what_its_kind_and_state_say(source, kind, state, status):
    body = {
        "NOTIFICATIONTYPE": kind,
        "HOSTNAME": "db-1",
        "SERVICEDESC": "disk",
        "SERVICESTATE": state,
        "LASTSERVICESTATECHANGE": "1767225600",
    }
    alert = one(source, body)
    assert (alert.title, alert.status) == ("disk on db-1", status)
    assert alert.fingerprint == one(source, body | {"SERVICESTATE": "CRITICAL"}).fingerprint
    assert AT in (alert.starts_at, alert.ends_at)


@pytest.mark.parametrize(
    "names",
    [
        ("NOTIFICATIONTYPE", "HOSTNAME", "HOSTSTATE"),
        ("notification_type", "host_name", "host_state"),
        ("NOTIFY_NOTIFICATIONTYPE", "NOTIFY_HOSTNAME", "NOTIFY_HOSTSTATE"),
        ("type", "host", "state"),
    ],
    ids=str,
)
def test_macros_are_known_however_they_are_spelt(names):
    alert = one("nagios", dict(zip(names, ["PROBLEM", "db-1", "DOWN"], strict=True)))
    assert (alert.title, alert.severity) == ("db-1", Severity.CRITICAL)


@pytest.mark.parametrize(
    ("service", "state", "severity", "status"),
    [
        ("disk", "0", "none", "resolved"),
        ("disk", "1", "warning", "firing"),
        ("disk", "2", "critical", "firing"),
        ("disk", "3", "unknown", "firing"),
        ("", "0", "none", "resolved"),
        ("", "1", "critical", "firing"),
        ("", "2", "critical", "firing"),
    ],
)
def test_the_number_of_a_state_means_another_thing_of_a_host_than_of_a_service(
    service, state, severity, status
):
    alert = one("nagios", {"host_name": "db-1", "service_desc": service, "state": state})
    assert (alert.severity, alert.status) == (severity, status)


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        *(("Sev0", "critical"), ("Sev1", "critical"), ("Sev2", "warning"), ("Sev3", "info")),
        *(("Sev4", "info"), ("3", "info"), ("0", "critical"), ("Error", "critical")),
        *(("Informational", "info"), ("Sev9", "unknown")),
    ],
)
def test_azures_severities_are_those_of_its_documentation(given, severity):
    essentials = {"alertRule": "A", "monitorCondition": "Fired", "severity": given}
    common = one("azure_monitor", {"data": {"essentials": essentials}})
    classic = {"status": "Activated", "context": {"name": "A", "severity": given}}
    assert common.severity == one("azure_monitor", classic).severity == severity
    assert common.severity_given == given


@pytest.mark.parametrize("kind", ["DOWNTIMESTART", "DOWNTIMEEND", "DOWNTIMECANCELLED"])
def test_planned_work_is_no_alert(kind):
    body = {"NOTIFICATIONTYPE": kind, "HOSTNAME": "db-1", "HOSTSTATE": "DOWN"}
    assert alerts_of("nagios", body) == []


def test_a_notification_of_nothing_names_what_is_missing():
    with pytest.raises(BadPayloadError, match="HOSTNAME, state: no field"):
        alerts_of("nagios", {"SERVICEDESC": "disk"})


def test_a_node_that_can_be_reached_again_ends_its_alert():
    body = {"host": "web-1", "status": {"reachable": False}}
    first = one("netdata", body)
    last = one("netdata", body | {"status": {"reachable": True}})
    assert (first.status, last.status) == (AlertStatus.FIRING, AlertStatus.RESOLVED)
    assert first.fingerprint == last.fingerprint


def cloud_event(**more):
    known = {"specversion": "1.0", "id": "1", "source": "/s", "type": "com.example.alert"}
    return known | {"time": "2026-01-01T00:00:00Z"} | more


def test_the_time_of_an_event_is_that_of_its_alert_where_the_data_has_none():
    data = {"title": "t", "status": "resolved"}
    alert = one("cloudevents", cloud_event(data=data))
    assert (alert.starts_at, alert.ends_at) == (None, AT)
    assert one("cloudevents", cloud_event(data=data | {"status": "firing"})).starts_at == AT


@pytest.mark.parametrize(
    ("data", "title"),
    [
        ({"host": "db-1"}, "disk full"),
        ('{"title": "t"}', "t"),
        ("a plain text", "disk full"),
        (None, "disk full"),
        ([{"title": "t"}], "t"),
        (EVENT, "BackOff"),
    ],
    ids=str,
)
def test_the_data_of_an_event_may_have_any_shape(data, title):
    assert one("cloudevents", cloud_event(subject="disk full", data=data)).title == title


def test_a_binary_event_has_its_attributes_in_headers():
    headers = {f"ce-{name}": text for name, text in cloud_event(source="/db%201").items()}
    alert = one("cloudevents", {"title": "t"}, headers=headers)
    assert (alert.title, alert.labels["source"], alert.starts_at) == ("t", "/db 1", AT)


@pytest.mark.parametrize(
    ("event", "fault"),
    [
        ({"specversion": "1.0", "id": "1", "source": "/s"}, "type: Field required"),
        (cloud_event(data_base64="%%%"), "data_base64: it is not Base64"),
        (cloud_event(data_base64=1), "data_base64: it is not Base64"),
        (cloud_event(data_base64="\u00e9"), "data_base64: it is not Base64"),
        (cloud_event(time="yesterday"), "time: Value error, no time"),
    ],
    ids=str,
)
def test_an_event_that_is_none_is_refused_by_name(event, fault):
    with pytest.raises(BadPayloadError, match=fault):
        alerts_of("cloudevents", event)


@pytest.mark.parametrize(
    ("source", "body"),
    [
        ("cloudevents", [cloud_event(data={"title": "t"})] * 2000),
        ("cloudwatch", {"Records": [{"Sns": enveloped("text")}] * 2000}),
        ("kubernetes_event", [EVENT] * 2000),
        ("generic", [{"title": "t"}] * 2000),
    ],
    ids=["cloudevents", "cloudwatch", "kubernetes_event", "generic"],
)
def test_no_more_is_read_than_shows_that_a_request_has_too_many(source, body):
    parsed = sources.load()[source].parse(Delivery(payload=body, received_at=AT))
    assert len(parsed) == 1001


def test_a_body_as_wide_as_it_can_be_is_looked_through_in_part():
    body = {f"x{number}": {"z": number} for number in range(40_000)}
    with pytest.raises(BadPayloadError, match="title: found under none of"):
        alerts_of("generic", {"y": body})
    assert one("generic", {"title": "t", "y": body}).title == "t"
