import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from tocsin_agents.budget import Budget
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.manifest import Manifest
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import Alert, ObjectRef, Workload
from tocsin_rca import collectors
from tocsin_rca.ports import ChangedField, Declared, FieldHistory, World

NOW = datetime(2026, 3, 2, 9, 22, tzinfo=UTC)


class RecordedHistory:
    """Answers with the recorded changes that concern an object."""

    source = "git"

    def __init__(self, changes, declared=()):
        self._changes, self._declared = changes, tuple(declared)

    async def recent_changes(self, target, *, cluster, limit):
        same = [change for change in self._changes if self._concerns(change, target)]
        return tuple(same[:limit])

    async def declared(self, namespace, names, *, cluster, limit):
        return self._declared

    @staticmethod
    def _concerns(change, target):
        documents = {(field.document.kind, field.document.name) for field in change.fields}
        return (target.kind, target.name) in documents


class FixedClock:
    def now(self):
        return NOW


def read_change(raw):
    fields = tuple(
        ChangedField(
            document=ObjectRef.model_validate(field["document"]),
            path=tuple(field["path"]),
            before=field["before"],
            after=field["after"],
        )
        for field in raw["fields"]
    )
    at = datetime.fromisoformat(raw["at"])
    return FieldHistory(raw["commit"], raw["author"], at, raw["subject"], raw["file"], fields)


def read_declared(folder):
    """Return what the files of a folder declare."""
    return [
        Declared("shop/deploy", "0" * 40, path.name, Manifest(document))
        for path in sorted(folder.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_bytes())
    ]


@pytest.fixture
def history():
    """Make a history of changes given as plain data."""
    return lambda raw, declared=(): RecordedHistory([read_change(one) for one in raw], declared)


@pytest.fixture
def clock():
    return FixedClock()


@pytest.fixture
def budget():
    return Budget(200, 30, lambda: 0.0)


@pytest.fixture
def investigate(history, clock, budget):
    """Collect the case of a recorded folder, as the service would."""

    async def collect(folder: Path):
        alert = Alert.model_validate_json((folder / "alert.json").read_bytes())
        recorded = folder / "history.json"
        changes = json.loads(recorded.read_bytes()) if recorded.exists() else []
        told = history(changes, read_declared(folder / "repository"))
        world = World(OneCluster(SnapshotCluster(folder / "snapshot")), told, clock)
        return await collectors.collect(alert, world, budget)

    return collect


class Scene:
    """A small cluster in the making: one Deployment `web` in `shop`, its pods, and their events."""

    def __init__(self, folder, history, clock, budget):
        self.folder, self._history, self._clock, self._budget = folder, history, clock, budget
        self.objects, self.commits, self.declared = [], [], []
        self.container = {"name": "app", "image": "reg.example/shop/web:2"}
        self.labels = {"app": "web", "tier": "front"}

    def add(self, kind, name, spec=None, status=None, **metadata):
        namespace = {} if kind in ("Node", "IngressClass") else {"namespace": "shop"}
        self.objects.append(
            {
                "apiVersion": "v1",
                "kind": kind,
                "metadata": {"name": name, **namespace, **metadata},
                "spec": spec or {},
                "status": status or {},
            }
        )

    def deployment(self):
        template = {"metadata": {"labels": self.labels}, "spec": {"containers": [self.container]}}
        self.add("Deployment", "web", {"template": template})

    def pod(self, name="web-1-a", container=None, phase="Running", node="n1", **status):
        owner = {"kind": "ReplicaSet", "name": "web-1", "controller": True}
        self.add(
            "Pod",
            name,
            {"nodeName": node, "containers": [self.container | (container or {})]},
            {"phase": phase, "containerStatuses": [{"name": "app"} | status]} if status else {},
            labels=self.labels | {"pod-template-hash": "1"},
            ownerReferences=[owner],
        )

    def event(self, reason, message, pod="web-1-a", kind="Pod", at="2026-03-02T09:00:00Z"):
        about = {"kind": kind, "name": pod} | ({} if kind == "Node" else {"namespace": "shop"})
        self.add("Event", f"{pod}.{len(self.objects)}")
        self.objects[-1] |= {"involvedObject": about, "type": "Warning", "reason": reason}
        self.objects[-1] |= {"message": message, "count": 3, "lastTimestamp": at}

    def log(self, text, pod="web-1-a", previous=True):
        file = self.folder / "logs" / "shop" / pod / f"app{'.previous' if previous else ''}.log"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def commit(self, path, before, after, kind="Deployment", name="web"):
        field = {
            "document": {"kind": kind, "name": name},
            "path": path,
            "before": before,
            "after": after,
        }
        self.commits.append(
            {
                "commit": f"{len(self.commits):040x}",
                "author": "web-team",
                "at": "2026-03-02T08:00:00Z",
                "subject": "change it",
                "file": "web.yaml",
                "fields": [field],
            }
        )

    def cluster(self):
        recorded = yaml.dump_all(self.objects, Dumper=yaml.CSafeDumper)
        (self.folder / "all.yaml").write_text(f"# recorded\n{recorded}")
        return SnapshotCluster(self.folder)

    @staticmethod
    def alert(name="web", kind="Deployment", **labels):
        return Alert(
            source="alertmanager",
            fingerprint="f",
            status="firing",
            title="SomethingIsWrong",
            severity="warning",
            labels=labels,
            workload=Workload(namespace="shop", name=name, kind=kind),
        )

    async def case(self, alert=None):
        told = self._history(self.commits, self.declared)
        world = World(OneCluster(self.cluster()), told, self._clock)
        return await collectors.collect(alert or self.alert(), world, self._budget)


@pytest.fixture
def scene(tmp_path, history, clock, budget):
    """Build a small cluster and investigate it."""
    return Scene(tmp_path, history, clock, budget)
