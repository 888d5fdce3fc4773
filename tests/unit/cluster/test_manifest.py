from datetime import UTC, datetime

import pytest

from tocsin_cluster.events import read_event, read_time
from tocsin_cluster.manifest import Manifest, Owner, dig
from tocsin_contracts import ObjectRef

CONTAINERS = {
    "containers": [{"name": "app", "ports": [{"containerPort": 80}]}],
    "initContainers": [{"name": "migrate"}],
}


def test_a_manifest_knows_which_object_it_is():
    manifest = Manifest({"kind": "Node", "metadata": {"name": "worker-1"}})
    assert manifest.ref == ObjectRef(kind="Node", name="worker-1")
    assert str(manifest.ref) == "Node worker-1"


@pytest.mark.parametrize(
    ("kind", "raw", "path"),
    [
        ("Pod", {"spec": CONTAINERS}, ("spec",)),
        ("Deployment", {"spec": {"template": {"spec": CONTAINERS}}}, ("spec", "template", "spec")),
        (
            "CronJob",
            {"spec": {"jobTemplate": {"spec": {"template": {"spec": CONTAINERS}}}}},
            ("spec", "jobTemplate", "spec", "template", "spec"),
        ),
    ],
)
def test_a_container_knows_where_it_stands(kind, raw, path):
    app, migrate = Manifest({"kind": kind, **raw}).containers()
    assert app.path == (*path, "containers", "[name=app]")
    assert migrate.path == (*path, "initContainers", "[name=migrate]")
    assert app.dig("ports", 0, "containerPort") == 80


def test_a_kind_without_pods_has_no_containers():
    assert Manifest({"kind": "Service", "spec": {"containers": [{"name": "x"}]}}).containers() == ()


def test_the_owner_is_the_one_that_controls():
    owners = [
        {"kind": "Widget", "name": "w"},
        {"kind": "ReplicaSet", "name": "web-abc", "controller": True},
    ]
    manifest = Manifest({"kind": "Pod", "metadata": {"name": "p", "ownerReferences": owners}})
    assert manifest.owner == Owner("ReplicaSet", "web-abc")


def test_labels_are_text_whatever_yaml_made_of_them():
    manifest = Manifest({"kind": "Pod", "metadata": {"labels": {"version": 2, "on": True}}})
    assert manifest.labels == {"version": "2", "on": "True"}


@pytest.mark.parametrize("path", [("a", "b", "c"), ("list", 5), ("list", "x"), ("text", 0)])
def test_digging_where_nothing_is_finds_nothing(path):
    assert dig({"a": {"b": None}, "list": [1], "text": "hello"}, *path) is None


def test_digging_counts_from_the_end_too():
    assert dig({"list": [1, 2]}, "list", -1) == 2


def test_an_event_without_a_time_is_still_an_event():
    event = read_event(Manifest({"kind": "Event", "reason": "Failed", "count": "many"}))
    assert (event.reason, event.count, event.last_seen) == ("Failed", 1, None)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("2026-03-02T09:20:00Z", datetime(2026, 3, 2, 9, 20, tzinfo=UTC)),
        (datetime.fromisoformat("2026-03-02T09:20:00"), datetime(2026, 3, 2, 9, 20, tzinfo=UTC)),
        ("yesterday", None),
        (None, None),
        (12, None),
    ],
)
def test_times_are_aware_or_absent(value, read):
    assert read_time(value) == read


def test_an_event_says_which_container_it_is_about():
    about = {"kind": "Pod", "name": "web-0", "fieldPath": "spec.initContainers{migrate}"}
    assert read_event(Manifest({"kind": "Event", "involvedObject": about})).container == "migrate"
