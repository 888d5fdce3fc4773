"""What came of earlier runs, as people and agents ask for it."""

from datetime import timedelta

from tocsin_agents.tools.port import Identity, Status, ToolContext
from tocsin_contracts import RunId, RunState
from tocsin_kit.errors import TransientError
from tocsin_rca.sources.past_runs import PastRuns
from tocsin_rca.tools.runs import RunTools
from tocsin_testing import build
from tocsin_testing.build import NOW
from tocsin_testing.fakes import FakeClock

ADA = Identity("ada")
PAYMENTS = {"namespace": "payments", "name": "payments-api", "cluster": "prod-eu-1"}


class Store:
    """Runs in memory, the newest first."""

    def __init__(self, *runs, away=False):
        self._runs = {run.id: run for run in runs}
        self._away = away
        self.asked = []

    async def of(self, thing):
        self.asked.append(thing)
        if self._away:
            raise TransientError("the store is away")
        return tuple(self._runs)

    async def get(self, run_id):
        run = self._runs[run_id]
        if run.state is RunState.FAILED:
            raise ValueError("damaged")
        return run

    async def recent(self, limit, *, kinds):
        return list(self._runs.values())[:limit]


def run(id, *facts, title="Pods restart", **changes):
    alert = build.alert(starts_at=NOW, title=title)
    opened = build.incident_opened(run_id=id, alert=alert)
    return build.run(opened, *facts, id=RunId(id), created_at=NOW - timedelta(days=1), **changes)


def asking(*runs, away=False, run_id=None):
    store = Store(*runs, away=away)
    toolset = RunTools(PastRuns(store, store, FakeClock())).toolset()

    async def ask(name, /, **arguments):
        (tool,) = (t for t in await toolset.tools(ADA) if t.spec.name == f"runs.{name}")
        return await tool.call(arguments, ToolContext(ADA, run_id=run_id))

    return ask, store


async def test_of_a_workload_the_last_runs_are_told_with_cause_and_end():
    formed = build.hypothesis_formed(run_id="r1")
    pull = build.pull_request_opened(run_id="r1")
    ended = build.run_finished(run_id="r1", sentence="The fix\nholds.")
    done = run("r1", formed, pull, ended, state=RunState.RESOLVED)
    ask, store = asking(done, run("r2", state=RunState.INVESTIGATING))
    answer = await ask("about", **PAYMENTS)
    assert store.asked == ["workload prod-eu-1/payments/payments-api"]
    assert answer.data["said"] == "2 earlier runs; 1 names a cause."
    first, second = answer.data["runs"]
    finding = formed.hypothesis.finding
    assert first == {
        "run": "r1",
        "opened_at": first["opened_at"],
        "alert": "Pods restart",
        "state": "resolved",
        "cause": finding.cause.value,
        "about": str(finding.object),
        "why": finding.summary,
        "pull_request": pull.url,
        "ended": "The fix holds.",
    }
    assert set(second) == {"run", "opened_at", "alert", "state"}


async def test_the_run_that_asks_is_no_earlier_one_and_a_damaged_record_hides_no_other():
    broken = run("broken", state=RunState.FAILED)
    ask, _ = asking(run("own"), broken, run("r1"), run_id=RunId("own"))
    answer = await ask("about", **PAYMENTS)
    assert [one["run"] for one in answer.data["runs"]] == ["r1"]


async def test_runs_are_found_by_words_the_best_first():
    ask, _ = asking(run("r1"), run("r2", title="DiskFull of the database"), run("r3", title="Disk"))
    answer = await ask("search", words="database disk full")
    assert [one["run"] for one in answer.data["runs"]] == ["r2", "r3"]
    assert (await ask("search", words="kafka")).data["said"] == "0 earlier runs; 0 name a cause."


async def test_a_store_that_is_away_is_an_error_that_may_pass():
    ask, _ = asking(away=True)
    answer = await ask("about", **PAYMENTS)
    assert (answer.status, answer.error) == (Status.ERROR, "the store is away")
    assert answer.message == "It may work later."
