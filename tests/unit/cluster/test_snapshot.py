import asyncio
import os
import shutil
from datetime import UTC, datetime

import pytest

from tocsin_cluster.errors import ClusterError
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import ObjectRef

POD = ObjectRef(kind="Pod", namespace="shop", name="web-0")
NEW = ObjectRef(kind="Pod", namespace="shop", name="web-7")

TWO_DOCUMENTS = """\
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: shop, labels: {app: web, tier: front}}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web}}
---
"""

EVENTS = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Event
  metadata: {name: web-0.2, namespace: shop}
  involvedObject: {kind: Pod, namespace: shop, name: web-0}
  type: Warning
  reason: BackOff
  message: back-off restarting
  count: 7
  lastTimestamp: "2026-03-02T09:20:00Z"
- apiVersion: events.k8s.io/v1
  kind: Event
  metadata: {name: web-0.1, namespace: shop}
  regarding: {kind: Pod, namespace: shop, name: web-0}
  type: Normal
  reason: Pulled
  note: already present
  series: {count: 3, lastObservedTime: "2026-03-02T09:10:00.123456Z"}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pods.yaml").write_text(TWO_DOCUMENTS)
    nested = tmp_path / "more"
    nested.mkdir()
    (nested / "events.yml").write_text(EVENTS)
    (nested / "service.json").write_text(
        '{"apiVersion": "v1", "kind": "ServiceList", "items":'
        ' [{"metadata": {"name": "web", "namespace": "shop"}}]}'
    )
    logs = tmp_path / "logs" / "shop" / "web-0"
    logs.mkdir(parents=True)
    (logs / "app.log").write_bytes(b"listening\n\xff\n")
    (logs / "app.previous.log").write_text("killed\n")
    return tmp_path


async def test_every_document_of_every_file_is_an_object(folder):
    cluster = SnapshotCluster(folder)
    pods = await cluster.list("Pod", "shop")
    assert [pod.ref.name for pod in pods] == ["web-0", "web-1"]
    assert await cluster.get(ObjectRef(kind="Service", namespace="shop", name="web"))


async def test_what_was_not_recorded_does_not_exist(folder):
    cluster = SnapshotCluster(folder)
    assert await cluster.get(ObjectRef(kind="Pod", namespace="other", name="web-0")) is None
    assert await cluster.list("Pod", "other") == ()


async def test_labels_must_all_match(folder):
    cluster = SnapshotCluster(folder)
    found = await cluster.list("Pod", "shop", {"app": "web", "tier": "front"})
    assert [pod.ref.name for pod in found] == ["web-0"]


async def test_events_of_both_apis_come_in_the_order_of_time(folder):
    pulled, backoff = await SnapshotCluster(folder).events(POD)
    assert (pulled.reason, pulled.message, pulled.count) == ("Pulled", "already present", 3)
    assert (backoff.reason, backoff.count) == ("BackOff", 7)
    assert backoff.last_seen == datetime(2026, 3, 2, 9, 20, tzinfo=UTC)


async def test_logs_are_read_now_and_before(folder):
    cluster = SnapshotCluster(folder)
    assert await cluster.logs("shop", "web-0", "app") == "listening\n\ufffd\n"
    assert await cluster.logs("shop", "web-0", "app", previous=True) == "killed\n"
    assert await cluster.logs("shop", "web-1", "app") is None


async def test_a_log_cannot_be_asked_for_outside_of_the_folder(folder):
    with pytest.raises(ClusterError, match="not names"):
        await SnapshotCluster(folder).logs("shop", "..", "../../etc/passwd")


async def test_of_a_secret_only_name_type_and_keys_are_kept(tmp_path):
    (tmp_path / "all.yaml").write_text(
        "{kind: Secret, type: Opaque,"
        " metadata: {name: db, namespace: shop, annotations: {a: aHVzaA}},"
        " data: {p: aHVzaA==}, stringData: {q: aHVzaA}}"
    )
    cluster = SnapshotCluster(tmp_path)
    assert "aHVzaA" not in repr(vars(cluster))
    secret = await cluster.get(ObjectRef(kind="Secret", namespace="shop", name="db"))
    assert (secret.raw["type"], secret.raw["data"]) == ("Opaque", {"p": "", "q": ""})


async def test_the_secrets_of_a_list_are_dropped_too(tmp_path):
    (tmp_path / "all.yaml").write_text(
        "{apiVersion: v1, kind: SecretList, items: [{metadata: {name: db}, data: {p: aHVzaA==}}]}"
    )
    assert "aHVzaA" not in repr(vars(SnapshotCluster(tmp_path)))


@pytest.mark.parametrize(
    "text",
    ["kind: Pod\n  bad: [", "- just\n- words\n", "{kind: Pod, metadata: {}}", "\tkind: Pod"],
)
def test_a_bad_file_is_named(tmp_path, text):
    (tmp_path / "broken.yaml").write_text(text)
    with pytest.raises(ClusterError, match=r"broken\.yaml"):
        SnapshotCluster(tmp_path)


def test_a_file_that_is_being_written_is_no_empty_cluster(tmp_path):
    (tmp_path / "cluster.yaml").write_text("")
    with pytest.raises(ClusterError, match=r"cluster\.yaml' is empty"):
        SnapshotCluster(tmp_path)


def change(folder):
    (folder / "pods.yaml").write_text(TWO_DOCUMENTS.replace("web-0", "web-7"))


def add(folder):
    (folder / "new.yaml").write_text("{kind: Pod, metadata: {name: web-7, namespace: shop}}")


def rename(folder):
    add(folder)
    (folder / "new.yaml").rename(folder / "newer.yaml")


@pytest.mark.parametrize("record", [change, add, rename])
async def test_a_folder_that_is_recorded_anew_is_read_anew(folder, record):
    cluster = SnapshotCluster(folder)
    assert await cluster.get(NEW) is None
    record(folder)
    assert (await cluster.get(NEW)).ref == NEW
    assert NEW.name in [pod.ref.name for pod in await cluster.list("Pod", "shop")]


async def test_what_is_gone_from_a_new_recording_is_gone(folder):
    cluster = SnapshotCluster(folder)
    assert await cluster.events(POD)
    (folder / "more" / "events.yml").unlink()
    assert await cluster.events(POD) == ()


async def test_a_folder_that_stays_as_it_is_is_read_once(folder):
    cluster = SnapshotCluster(folder)
    before = await cluster.list("Pod", "shop")
    again = await asyncio.gather(*(cluster.list("Pod", "shop") for _ in range(5)))
    assert all(one is other for found in again for one, other in zip(found, before, strict=True))


async def test_a_new_recording_that_cannot_be_read_is_an_error_until_it_can(folder):
    cluster = SnapshotCluster(folder)
    (folder / "new.yaml").write_text("kind: Pod\n  bad: [")
    for _ in range(2):
        with pytest.raises(ClusterError, match=r"new\.yaml"):
            await cluster.get(POD)
    add(folder)
    assert await cluster.get(POD)
    shutil.rmtree(folder)
    with pytest.raises(ClusterError, match="no snapshot"):
        await cluster.logs("shop", "web-0", "app")


async def test_a_recording_is_as_old_as_its_newest_file(folder):
    for number, path in enumerate(sorted(folder.rglob("*.*")), start=1):
        os.utime(path, (number * 1000, number * 1000))
    cluster = SnapshotCluster(folder)
    assert cluster.recorded_at == datetime.fromtimestamp(number * 1000, UTC)
    os.utime(folder / "pods.yaml", (99_000, 99_000))
    await cluster.get(POD)
    assert cluster.recorded_at == datetime.fromtimestamp(99_000, UTC)


def test_an_empty_folder_has_no_time(tmp_path):
    assert SnapshotCluster(tmp_path).recorded_at is None


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ClusterError, match=r"no snapshot at .*nowhere"):
        SnapshotCluster(tmp_path / "nowhere")
