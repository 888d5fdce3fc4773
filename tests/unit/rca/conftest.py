import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tocsin_agents.budget import Budget
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import Alert, ObjectRef
from tocsin_rca import collectors
from tocsin_rca.ports import ChangedField, FieldHistory, World

NOW = datetime(2026, 3, 2, 9, 22, tzinfo=UTC)


class RecordedHistory:
    """Answers with the recorded changes that concern an object."""

    source = "git"

    def __init__(self, changes):
        self._changes = changes

    async def recent_changes(self, target, *, cluster, limit):
        same = [change for change in self._changes if self._concerns(change, target)]
        return tuple(same[:limit])

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


@pytest.fixture
def history():
    """Make a history of changes given as plain data."""
    return lambda raw: RecordedHistory([read_change(change) for change in raw])


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
        world = World(SnapshotCluster(folder / "snapshot"), history(changes), clock)
        return await collectors.collect(alert, world, budget)

    return collect
