"""Lay out everything the demo happens in: repository, recorded cluster, alert."""

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tocsin_cli.demo import history
from tocsin_cli.world import World

_ASSETS = Path(__file__).parent / "assets"
_FIRING_FOR = timedelta(minutes=4)


@dataclass(frozen=True, slots=True)
class Stage:
    """Where things are in the demo's folder."""

    folder: Path

    @property
    def git_dir(self) -> Path:
        """The bare GitOps repository."""
        return self.folder / "platform-gitops.git"

    @property
    def records(self) -> Path:
        """The folder in which the local forge keeps its pull requests."""
        return self.folder / "platform-gitops.pulls"

    @property
    def world(self) -> World:
        """What Tocsin is told about."""
        return World(gitops=self.folder / "gitops.yaml", snapshot=self.folder / "snapshot")

    @property
    def payload(self) -> Path:
        """What Alertmanager sends."""
        return self.folder / "alertmanager.json"


def build(folder: Path, now: datetime) -> Stage:
    """Write the stage; its alerts have been firing for a few minutes."""
    stage = Stage(folder)
    history.build(stage.git_dir, history.read(_ASSETS / "history"))
    shutil.copy(_ASSETS / "gitops.yaml", folder)
    shutil.copytree(_ASSETS / "snapshot", folder / "snapshot")
    started = (now - _FIRING_FOR).astimezone(UTC).isoformat(timespec="milliseconds")
    template = (_ASSETS / "alertmanager.json").read_text(encoding="utf-8")
    payload = template.replace("@STARTS_AT@", started.replace("+00:00", "Z"))
    stage.payload.write_text(payload, encoding="utf-8")
    return stage
