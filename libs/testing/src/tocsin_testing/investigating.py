"""A small cluster that no analyzer explains, and rca with a model of the test to look further."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml
from langgraph.checkpoint.base import BaseCheckpointSaver

from tocsin_agents.budget import Budget
from tocsin_agents.limits.budgets import Limits
from tocsin_agents.loop.engine import Engine
from tocsin_agents.models.port import Answer, Model, Usage
from tocsin_agents.tools.catalogue import Catalogue
from tocsin_agents.tools.modes import Mode
from tocsin_agents.tools.toolsets import NamedToolset
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.fleet import Fleet
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import Finding, ObjectRef
from tocsin_kit.graphs import Subgraph
from tocsin_kit.redaction import Redactor
from tocsin_kit.timers import Timer
from tocsin_rca import graph, tools
from tocsin_rca.evidence import Case
from tocsin_rca.handlers import BudgetHandlers, Handlers
from tocsin_rca.investigation.broadcasting import Listening, only_logged
from tocsin_rca.investigation.further import Further
from tocsin_rca.investigation.investigator import Investigator
from tocsin_rca.investigation.ports import Runs, Timers
from tocsin_rca.investigation.scenes import Living
from tocsin_rca.nodes import Nodes
from tocsin_rca.ports import (
    ChangedField,
    Clock,
    Declared,
    FieldHistory,
    Recordings,
    Transcripts,
    World,
)
from tocsin_rca.state import RcaState
from tocsin_rca.tools.cluster import ClusterTools
from tocsin_testing.crowd import FakeLateNews
from tocsin_testing.fakes import FakeClock
from tocsin_testing.scripted_model import SMALL, asks
from tocsin_testing.values import NOW

WEB = ObjectRef(kind="Deployment", namespace="shop", name="web")
MEMORY = ("spec", "template", "spec", "containers", "[name=app]", "resources", "limits", "memory")
NOW_HELD, HELD_BEFORE = "64Mi", "128Mi"
PATIENCE = timedelta(minutes=30)

_OBJECTS: tuple[dict[str, Any], ...] = (
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "template": {
                "spec": {
                    "containers": [
                        {
                            "name": "app",
                            "image": "reg.example/shop/web:2",
                            "resources": {"limits": {"memory": NOW_HELD}},
                        }
                    ]
                }
            }
        },
    },
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "web", "namespace": "shop"},
        "data": {"mode": "fast"},
    },
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "keys", "namespace": "vault"},
        "data": {"password": "aHVudGVyMg=="},
    },
)


def snapshot(folder: Path) -> SnapshotCluster:
    """Write the cluster down and return it: a Deployment, a ConfigMap, and a Secret elsewhere."""
    recorded = yaml.dump_all(_OBJECTS, Dumper=yaml.CSafeDumper)
    (folder / "all.yaml").write_text(f"# recorded\n{recorded}", encoding="utf-8")
    return SnapshotCluster(folder)


class OneCommit:
    """A history in which one commit halved the memory of `web`."""

    source = "git"

    async def recent_changes(
        self, target: ObjectRef, *, cluster: str, limit: int
    ) -> tuple[FieldHistory, ...]:
        """Return the commit if it is about the object."""
        del cluster, limit
        changed = ChangedField(WEB, MEMORY, HELD_BEFORE, NOW_HELD)
        commit = FieldHistory("c" * 40, "web-team", NOW, "less memory", "web.yaml", (changed,))
        return (commit,) if target == WEB else ()

    async def declared(
        self, namespace: str, names: tuple[str, ...], *, cluster: str, limit: int
    ) -> tuple[Declared, ...]:
        """Return nothing: no file declares anything."""
        del namespace, names, cluster, limit
        return ()


class FixedAnalyzer:
    """Finds what it is given."""

    name = "fixed"
    needs = "Nothing."
    proof = "It was told so."
    against = "Nothing."

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings = tuple(findings)

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return it whatever the case shows."""
        del case
        return self._findings


@dataclass
class FakeTimers:
    """Timers that never come due by themselves."""

    timers: list[Timer] = field(default_factory=list)

    async def set_timer(self, timer: Timer) -> None:
        """Keep it."""
        self.timers.append(timer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """What outlives a worker, so that another one can go on; `model` None is rca without one."""

    world: World
    runs: Runs
    saver: BaseCheckpointSaver[Any]
    timers: Timers = field(default_factory=FakeTimers)
    engine: Engine = field(default_factory=Engine)
    findings: tuple[Finding, ...] = ()
    others: tuple[NamedToolset, ...] = ()
    patience: timedelta = PATIENCE
    recordings: Recordings | None = None
    transcripts: Transcripts | None = None
    instructions: Mapping[str, str] = field(default_factory=dict)
    listening: Listening = only_logged

    def worker(self, model: Model | None) -> tuple[Handlers, BudgetHandlers]:
        """Return the handlers of a worker that knows only what is stored."""
        nodes = Nodes(
            self.world,
            [FixedAnalyzer(self.findings)],
            lambda: Budget(200, 30, lambda: 0.0),
            FakeLateNews(),
            self.recordings,
        )
        asking: Subgraph[RcaState] = Subgraph("rca", graph.build(nodes), self.saver)
        further = None if model is None else self._further(model)
        handlers = Handlers(asking, 3, further)
        return handlers, BudgetHandlers(handlers, self.runs)

    def _further(self, model: Model) -> Further:
        def reading(fleet: Fleet) -> Catalogue:
            known = (ClusterTools(fleet).toolset(), *self.others)
            return tools.catalogue(known, Mode.ASK, Redactor())

        scenes = Living(
            model,
            self.world,
            reading,
            self.engine.limits,
            self.transcripts,
            instructions=self.instructions,
        )
        investigator = Investigator(self.engine, scenes, self.saver, self.listening)
        return Further(
            investigator,
            self.runs,
            self.timers,
            self.world.clock,
            patience=self.patience,
            look_every=0.02,
        )


def world(folder: Path, clock: Clock | None = None) -> World:
    """Return the small cluster with its history, at the time of the tests unless told another."""
    return World(OneCluster(snapshot(folder)), OneCommit(), clock or FakeClock())


def limited(**changes: Any) -> Engine:
    """Return an engine with these limits."""
    return Engine(limits=Limits(**changes), nonce=lambda: "mark")


def submission(**changes: Any) -> dict[str, Any]:
    """Return a result that stands on the alert and on the history of the field."""
    fields: dict[str, Any] = {
        "cause": "oom_killed_limit_too_low",
        "object": WEB.model_dump(),
        "verdict": "likely",
        "summary": "Its memory was halved.",
        "claims": [{"text": "It was halved just before.", "evidence": ["e1"]}],
        "disproof": "It restarts with more memory too.",
        "change": {
            "object": WEB.model_dump(),
            "path": list(MEMORY),
            "old": NOW_HELD,
            "new": HELD_BEFORE,
        },
    }
    return fields | changes


def submits(usage: Usage = SMALL, **changes: Any) -> Answer:
    """Return an answer that hands such a result in."""
    return asks(("submit", submission(**changes)), usage=usage)


def looks(name: str = "web", kind: str = "ConfigMap", usage: Usage = SMALL) -> Answer:
    """Return an answer that looks at an object."""
    return asks(("k8s.get", {"kind": kind, "namespace": "shop", "name": name}), usage=usage)
