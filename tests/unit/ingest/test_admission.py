"""Which alerts belong together: identity comes from labels, never from order, text or severity."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts import Severity, Workload
from tocsin_ingest import admission
from tocsin_ingest.alerts import Identity, alert_of
from tocsin_ingest.marks import MARKS
from tocsin_ingest.ports import Reading
from tocsin_testing import build

REPLICAS = frozenset({"prometheus_replica", "replica"})
NAMES = st.text(max_size=10)
LABELS = st.dictionaries(NAMES, st.text(max_size=10), max_size=6)


@settings(max_examples=60)
@given(LABELS, st.randoms())
def test_p5_the_order_of_labels_never_matters(labels, random):
    shuffled = list(labels.items())
    random.shuffle(shuffled)
    assert admission.fingerprint("s", labels, ()) == admission.fingerprint("s", dict(shuffled), ())


@settings(max_examples=60)
@given(LABELS, st.sampled_from(sorted(REPLICAS)), st.text(max_size=10))
def test_a_label_that_only_tells_replicas_apart_is_ignored(labels, replica, value):
    alone = {name: text for name, text in labels.items() if name not in REPLICAS}
    with_replica = alone | {replica: value}
    assert admission.fingerprint("s", with_replica, REPLICAS) == admission.fingerprint(
        "s", alone, REPLICAS
    )


@settings(max_examples=60)
@given(LABELS, LABELS)
def test_other_labels_are_another_alert(one, other):
    same = admission.fingerprint("s", one, ()) == admission.fingerprint("s", other, ())
    assert same is (one == other)


def test_another_source_is_another_alert():
    assert admission.fingerprint("a", {}, ()) != admission.fingerprint("b", {}, ())


@pytest.mark.parametrize(
    ("pod", "kind", "name"),
    [
        ("payments-api-7d9c8f6b5-x2x4z", "Deployment", "payments-api"),
        ("payments-api-7d9c8f6b57-x2x4z", "Deployment", "payments-api"),
        ("cart-6f9d7c9b7c-2xk4v", "Deployment", "cart"),
        ("a-b-c-69b45d7cf-zz8bc", "Deployment", "a-b-c"),
        ("recommender-0", "StatefulSet", "recommender"),
        ("kafka-broker-12", "StatefulSet", "kafka-broker"),
        ("node-exporter-x7kq2", "", "node-exporter"),
        ("migrate-db-4zq7w", "", "migrate-db"),
        ("nightly-29012345-6xk2v", "CronJob", "nightly"),
        ("reindex-all-29012345-zz8bc", "CronJob", "reindex-all"),
        ("toolbox", "Pod", "toolbox"),
        ("debug-pod-manual", "Pod", "debug-pod-manual"),
    ],
)
def test_a_pods_name_says_what_made_it(pod, kind, name):
    found = admission.workload({"namespace": "shop", "pod": pod})
    assert (found.kind, found.name) == (kind, name)


@pytest.mark.parametrize(
    ("labels", "kind", "name"),
    [
        ({"deployment": "cart", "pod": "other-0"}, "Deployment", "cart"),
        ({"statefulset": "db"}, "StatefulSet", "db"),
        ({"daemonset": "agent"}, "DaemonSet", "agent"),
        ({"cronjob": "nightly", "job_name": "nightly-29012345"}, "CronJob", "nightly"),
        ({"job_name": "migrate"}, "Job", "migrate"),
        ({"job_name": "nightly-29012345"}, "CronJob", "nightly"),
        ({"workload": "cart"}, "", "cart"),
        ({"pod": "ksm-0", "exported_pod": "db-0"}, "StatefulSet", "db"),
        ({"service": "cart"}, "Service", "cart"),
        ({"service": "cart", "pod": "cart-0"}, "StatefulSet", "cart"),
    ],
)
def test_the_label_that_says_it_best_wins(labels, kind, name):
    found = admission.workload({"namespace": "shop", **labels})
    assert (found.kind, found.name) == (kind, name)


def test_where_a_workload_is_comes_from_what_was_scraped_not_from_the_scraper():
    labels = {
        "namespace": "monitoring",
        "exported_namespace": "shop",
        "container": "kube-state-metrics",
        "exported_container": "cart",
        "cluster": "eu-1",
        "deployment": "cart",
    }
    assert admission.workload(labels) == Workload(
        cluster="eu-1", namespace="shop", name="cart", kind="Deployment", container="cart"
    )


@pytest.mark.parametrize(
    "labels",
    [
        {"job": "node-exporter", "pod": "node-exporter-x7kq2"},
        {"job": "node-exporter", "pod": "prom-prometheus-node-exporter-x7kq2"},
        {"job": "monitoring/kube-state-metrics", "pod": "kube-state-metrics-6f9d7c9b7c-2xk4v"},
        {"job": "blackbox-exporter", "service": "blackbox-exporter"},
    ],
)
def test_what_an_exporter_measures_is_not_the_exporter(labels):
    assert admission.workload({"namespace": "monitoring", **labels}) is None


@pytest.mark.parametrize(
    "labels",
    [
        {"job": "kube-state-metrics", "pod": "node-exporter-x7kq2"},
        {"job": "cart", "pod": "cart-6f9d7c9b7c-2xk4v"},
        {"pod": "node-exporter-x7kq2"},
    ],
)
def test_what_is_told_of_a_pod_is_about_it(labels):
    assert admission.workload({"namespace": "monitoring", **labels})


def test_machines_that_one_exporter_measures_are_told_apart():
    def parts(instance):
        labels = {"alertname": "DiskFull", "job": "node-exporter", "instance": instance}
        return admission.incident("alertmanager", labels, None, MARKS)

    assert parts("10.0.0.1:9100") != parts("10.0.0.2:9100")


@pytest.mark.parametrize(
    "labels", [{}, {"pod": "cart-0"}, {"namespace": "shop"}, {"namespace": "", "pod": "cart-0"}]
)
def test_labels_that_name_no_workload_are_about_none(labels):
    assert admission.workload(labels) is None


def test_alerts_about_one_workload_are_one_incident_whatever_they_complain_about():
    one = build.alert(title="A", fingerprint="1", severity=Severity.CRITICAL)
    other = build.alert(title="B", fingerprint="2", severity=Severity.INFO, summary="x")
    assert admission.incident_key(one) == admission.incident_key(other)


@pytest.mark.parametrize("change", [{"cluster": "us-1"}, {"namespace": "dev"}, {"name": "cart"}])
def test_another_workload_is_another_incident(change):
    one, other = build.alert(), build.alert(workload=build.workload(**change))
    assert admission.incident_key(one) != admission.incident_key(other)


def test_a_workload_whose_kind_is_known_better_is_the_same_incident():
    one, other = build.alert(), build.alert(workload=build.workload(kind="", container=""))
    assert admission.incident_key(one) == admission.incident_key(other)


def test_an_alert_without_a_workload_is_its_own_incident():
    one = build.alert(workload=None, fingerprint="1")
    other = build.alert(workload=None, fingerprint="2")
    assert admission.incident_key(one) != admission.incident_key(other)


SENDER = Identity(source="alertmanager", ignored=REPLICAS)


def made(key="", sender=SENDER, **labels):
    return alert_of(Reading(title="T", labels=labels, key=key), sender)


def same_incident(one, other):
    return admission.incident_key(one) == admission.incident_key(other)


FIXED = {"alertname": "DiskFull", "cluster": "eu-1"}


@pytest.mark.parametrize(
    "label",
    ["pod", "instance", "uid", "container_id", "endpoint", "severity", "replica", "i", "device"],
)
def test_a_label_that_names_no_place_does_not_tell_incidents_apart(label):
    one, other = made(**FIXED, **{label: "1"}), made(**FIXED, **{label: "2"})
    assert same_incident(one, other)
    assert (one.fingerprint == other.fingerprint) == (label in REPLICAS)


@pytest.mark.parametrize("label", ["alertname", "cluster", "namespace", "node", "service", "env"])
def test_another_name_or_place_is_another_incident(label):
    one, other = made(**FIXED | {label: "1"}), made(**FIXED | {label: "2"})
    assert not same_incident(one, other)


def test_a_restart_of_a_workload_changes_neither_its_incident_nor_what_it_goes_by():
    place = {"alertname": "A", "namespace": "shop"}
    one = made(**place, pod="cart-7d9c8f6b5-x2x4z", instance="10.0.0.7:8080", uid="a")
    other = made(**place, pod="cart-6f9d7c9b7c-2xk4v", instance="10.0.0.9:8080", uid="b")
    assert one.incident == other.incident
    assert one.incident.parts == {"namespace": "shop", "workload": "cart"}


def test_an_incident_says_what_its_alerts_have_in_common():
    assert made(**FIXED, severity="page", device="sda").incident.parts == {
        "source": "alertmanager",
        "alertname": "DiskFull",
        "cluster": "eu-1",
    }


def test_another_sender_is_another_incident():
    other = Identity(source="alertmanager", instance="eu", ignored=REPLICAS)
    assert not same_incident(made(**FIXED), made(sender=other, **FIXED))
    assert made(sender=other, **FIXED).incident.parts["source"] == "alertmanager/eu"


@pytest.mark.parametrize("only", [(), ("source", "check")])
def test_no_label_says_in_place_of_us_who_sent_an_alert(only):
    victim = Identity(source="alertmanager", instance="prod", only=only)
    forger = Identity(source="generic", only=only)
    forged = made(sender=forger, source="alertmanager/prod", check="ping")
    assert not same_incident(forged, made(sender=victim, check="ping"))
    assert forged.incident.parts["source"] == "generic"
    assert forged.incident.parts["label source"] == "alertmanager/prod"
    assert not same_incident(forged, made(sender=forger, source="other", check="ping"))
    also = {"label source": "alertmanager/prod"}
    assert not same_incident(made(sender=forger, **also, check="ping"), forged)
    named = made(sender=forger, alertname="A", source="alertmanager/prod")
    assert named.incident.parts["source"] == "generic"


@pytest.mark.parametrize(
    ("one", "other"),
    [(("a|b", "c"), ("a", "b|c")), (("a\\", "|c"), ("a\\|", "c")), (("a\\|b", "c"), ("a|b", "c"))],
)
def test_places_that_run_into_each_other_stay_two(one, other):
    first, second = (
        made(cluster=cluster, namespace=namespace, deployment="cart")
        for cluster, namespace in (one, other)
    )
    assert not same_incident(first, second)


def test_chosen_labels_tell_alerts_and_incidents_apart_and_nothing_else_does():
    sender = Identity(source="alertmanager", only=("env_dc", "group"))
    one = made(sender=sender, **FIXED, env_dc="dc1", group="a")
    other = made(sender=sender, **FIXED, env_dc="dc1", group="b")
    again = made(sender=sender, alertname="X", env_dc="dc1", group="a")
    assert not same_incident(one, other)
    assert (one.fingerprint, one.incident) == (again.fingerprint, again.incident)


def test_values_that_run_into_each_other_stay_two_alerts():
    assert not same_incident(made(alertname="a", cluster="bc"), made(alertname="ab", cluster="c"))


def test_without_a_name_the_senders_own_word_for_it_or_all_lasting_labels_decide():
    assert not same_incident(made(key="problem 1", host="a"), made(key="problem 2", host="a"))
    assert made(key="problem 1").incident.parts["sender's key"] == "problem 1"
    assert same_incident(made(check="ping", instance="1"), made(check="ping", instance="2"))
    assert not same_incident(made(check="ping"), made(check="load"))
    assert not same_incident(made(pod="a"), made(pod="b"))


def test_a_secret_in_what_alerts_have_in_common_is_not_shown_and_still_tells_them_apart():
    one = made(alertname="A", target="https://u:hunter2-hunter2@a")
    other = made(alertname="A", target="https://u:sesame-sesame1@a")
    assert not same_incident(one, other)
    assert "hunter2" not in str(one.incident.parts)


@settings(max_examples=40)
@given(LABELS, st.randoms())
def test_p5_the_order_of_labels_never_changes_the_incident(labels, random):
    shuffled = list(labels.items())
    random.shuffle(shuffled)
    parts = admission.incident("s", labels, None, MARKS)
    assert admission.key_of(parts) == admission.key_of(
        admission.incident("s", dict(shuffled), None, MARKS)
    )
