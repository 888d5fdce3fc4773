"""Lay recorded failures out as Tocsin finds them in a company: a cluster and a repository each."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tocsin_cli.cases import bundles, revisions
from tocsin_cli.cases.recorded import Recorded
from tocsin_cli.demo import history
from tocsin_cli.world import World

_README = {"README.md": b"What one recorded failure runs from.\n"}


@dataclass(frozen=True, slots=True)
class Staged:
    """One case, and the cluster that stands for it."""

    case: Recorded
    cluster: str

    def payload(self) -> bytes:
        """Return what Alertmanager sends about it."""
        labels = {**self.case.labels, "cluster": self.cluster}
        alert: Mapping[str, Any] = {**self.case.alert, "labels": labels}
        status = str(alert.get("status") or "firing")
        return json.dumps({"version": "4", "status": status, "alerts": [alert]}).encode()


def stage(cases: Iterable[Recorded], folder: Path) -> tuple[tuple[Staged, ...], World]:
    """Write snapshot and repository of every case below a folder."""
    staged = tuple(Staged(case, f"case-{n:04}") for n, case in enumerate(cases, start=1))
    snapshots, repositories = folder / "clusters", folder / "repositories"
    for inside in (snapshots, repositories):
        inside.mkdir(parents=True)
    for one in staged:
        bundles.write(one.case, snapshots / one.cluster)
        _repository(one, repositories)
    gitops = folder / "gitops.yaml"
    gitops.write_text(yaml.safe_dump({"repositories": [_rule(one) for one in staged]}))
    return staged, World(gitops=gitops, snapshots=snapshots)


def _repository(one: Staged, folder: Path) -> None:
    first, *others = revisions.commits(one.case)
    with_readme = history.Commit(first.team, first.at, first.subject, {**_README, **first.files})
    history.build(folder / f"{one.cluster}.git", (with_readme, *others))


def _rule(one: Staged) -> dict[str, Any]:
    return {
        "name": f"cases/{one.cluster}",
        "git_dir": f"repositories/{one.cluster}.git",
        "branch": history.BRANCH,
        "cluster": one.cluster,
        "paths": ["**"],
    }
