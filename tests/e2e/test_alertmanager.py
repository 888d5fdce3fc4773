"""A real Prometheus and a real Alertmanager: every alert ends in the run store, and none twice."""

import json
import os
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from signal import SIGKILL

import pytest

from tocsin_cli.demo import proof
from tocsin_contracts import AlertAccepted, AlertResolved, Event, RunState
from tocsin_contracts.views import RunSummary
from tocsin_kit.errors import TocsinError
from tocsin_testing.harness import until
from tocsin_testing.monitoring import (
    Alertmanager,
    Prometheus,
    Target,
    missing,
    scraped,
    webhook,
)
from tocsin_testing.pipeline import INGEST_TOKEN, Pipeline, pipeline

ABSENT = missing()
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(
        bool(ABSENT) and "CI" not in os.environ, reason=f"not installed: {', '.join(ABSENT)}"
    ),
]

OOM = "KubeContainerOOMKilled"
BROKEN = "DeploymentBroken"
ALERTS = {OOM: "critical", BROKEN: "warning"}
SECONDS = 30


@dataclass(frozen=True, slots=True)
class Monitored:
    """The whole pipeline behind a real Alertmanager, and what a test may break."""

    running: Pipeline
    target: Target
    alertmanager: Alertmanager

    async def runs(self) -> list[RunSummary]:
        try:
            return list(await self.running.gateway.runs(limit=500))
        except TocsinError:
            return []

    async def runs_of(self, *names: str) -> dict[str, list[RunSummary]]:
        """Wait until every one of these workloads has a run; return all runs of each."""

        async def look() -> dict[str, list[RunSummary]]:
            runs = await self.runs()
            return {name: [run for run in runs if name in _about(run)] for name in names}

        return await until(look, lambda found: all(found.values()), SECONDS)

    async def resolved(self, *run_ids: str) -> list[Event]:
        """Wait until every alert of these runs has cleared; return all facts."""

        def all_clear(facts: list[Event]) -> bool:
            clear = {f.run_id for f in facts if isinstance(f, AlertResolved) and not f.still_firing}
            return clear >= set(run_ids)

        return await until(self.running.facts, all_clear, SECONDS)

    def kill_ingest(self) -> None:
        os.kill(self.running.supervisor.pids["ingest-0"], SIGKILL)


def _about(run: RunSummary) -> tuple[str, ...]:
    return (run.workload.name if run.workload else "", run.title)


@asynccontextmanager
async def monitored(folder) -> AsyncIterator[Monitored]:
    async with pipeline(folder) as running:
        with ExitStack() as peers:
            target = Target()
            address = peers.enter_context(scraped(target))
            receiver = webhook(f"{running.ingest_url}/webhook/alertmanager", INGEST_TOKEN)
            alertmanager = Alertmanager(folder / "am", receiver, ["alertname"])
            peers.enter_context(alertmanager)
            prometheus = Prometheus(folder / "prometheus", address, alertmanager.address, ALERTS)
            peers.enter_context(prometheus)
            yield Monitored(running, target, alertmanager)


def broken(*names: str) -> list[dict[str, str]]:
    """Workloads that have nothing to do with each other, so that none explains another."""
    return [{"namespace": name, "deployment": name} for name in names]


def oom_killed(running: Pipeline) -> list[dict[str, str]]:
    """The alerts of the recorded incident, as a Prometheus would see them."""
    alerts = json.loads(running.scene.payload.read_bytes())["alerts"]
    ours = {"alertname", "severity"}
    return [{k: v for k, v in alert["labels"].items() if k not in ours} for alert in alerts]


async def test_p4_a_rule_that_no_longer_fires_withdraws_the_approval_that_waits(tmp_path):
    async with monitored(tmp_path) as world:
        world.target.breaks(OOM, *oom_killed(world.running))
        ((run,), (watchdog,)) = (await world.runs_of("payments-api", "Watchdog")).values()
        await world.running.reach(run.run_id, RunState.AWAITING_APPROVAL)
        await world.running.reach(watchdog.run_id, RunState.SUPPRESSED)

        world.target.breaks(OOM)
        ended = await world.running.reach(run.run_id, RunState.NO_CHANGE)
        assert ended.finished is not None
        assert ended.finished.reason == "alert_cleared"
        assert world.running.written == proof.Written((), ())


async def test_p1_every_alert_ends_in_the_run_store_once_whoever_is_killed_meanwhile(tmp_path):
    async with monitored(tmp_path) as world:
        world.target.breaks(BROKEN, *broken("cart", "search"))
        await world.runs_of("cart", "search")

        world.kill_ingest()
        world.target.breaks(BROKEN, *broken("cart", "search", "login"))
        await world.runs_of("login")

        world.alertmanager.kill()
        world.target.breaks(BROKEN, *broken("cart", "search", "login", "stock"))
        world.alertmanager.start()
        world.kill_ingest()
        found = await world.runs_of("cart", "search", "login", "stock", "Watchdog")

        first = {name: run.run_id for name, (run,) in found.items()}
        for run_id in first.values():
            await world.running.until(run_id, lambda run: run.state.terminal)

        world.target.breaks(BROKEN)
        first.pop("Watchdog")
        facts = await world.resolved(*first.values())
        opened = Counter(fact.run_id for fact in facts if isinstance(fact, AlertAccepted))
        assert len(opened) == len(first) + 1, "one run for each alert, and one for the Watchdog"
        assert set(opened.values()) == {1}

        world.target.breaks(BROKEN, *broken("cart"))
        again = await until(
            lambda: world.runs_of("cart"), lambda runs: len(runs["cart"]) == 2, SECONDS
        )
        assert first["cart"] in {run.run_id for run in again["cart"]}, "a new episode, a new run"


LABELS = {"alertname": "CartSlow", "severity": "warning", "namespace": "shop", "deployment": "cart"}


def pagers(ingest_url):
    """Alertmanager's own ways to Opsgenie and VictorOps, led to ingest."""
    opsgenie = {
        "api_url": f"{ingest_url}/webhook/opsgenie/",
        "api_key": INGEST_TOKEN,
        "update_alerts": True,
    }
    about = {name: f"{{{{ .CommonLabels.{name} }}}}" for name in ("namespace", "deployment")}
    victorops = {
        "api_url": f"{ingest_url}/webhook/victorops",
        "api_key": INGEST_TOKEN,
        "routing_key": "sre",
        "custom_fields": about,
    }
    return {"opsgenie_configs": [opsgenie], "victorops_configs": [victorops]}


async def test_what_alertmanager_tells_opsgenie_and_victorops_is_one_run_which_its_end_resolves(
    tmp_path,
):
    async with pipeline(tmp_path) as running:
        with Alertmanager(tmp_path / "am", pagers(running.ingest_url), ["..."]) as alertmanager:
            began = datetime.now(UTC) - timedelta(minutes=1)
            alertmanager.take({"labels": LABELS, "startsAt": began.isoformat()})
            (run,) = await until(
                lambda: _found(running), lambda runs: [r.firing for r in runs] == [2], SECONDS
            )
            assert (run.workload.namespace, run.workload.name) == ("shop", "cart")

            ended = datetime.now(UTC).isoformat()
            alertmanager.take({"labels": LABELS, "startsAt": began.isoformat(), "endsAt": ended})
            (run,) = await until(
                lambda: _found(running), lambda runs: [r.resolved for r in runs] == [2], SECONDS
            )
            facts = [fact for fact in await running.facts() if isinstance(fact, AlertResolved)]
            assert {fact.alert.source for fact in facts} == {"opsgenie", "victorops"}
            assert [fact.still_firing for fact in facts] == [1, 0]


async def _found(running: Pipeline) -> list[RunSummary]:
    return list(await running.gateway.runs(limit=10))
