"""What Tocsin makes of recorded failures: in this process, which takes seconds, or as it runs.

Run it with `python bench/rca.py --in-process CASES` while an analyzer is written, where CASES is a
file with one case a line, and with `python bench/rca.py CASES` for the whole pipeline. Where the
lines say what is right, it counts by family.
"""

import argparse
import asyncio
import collections
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tocsin_agents.budget import Budget
from tocsin_cli.cases import bundles, recorded, revisions
from tocsin_cli.cases.recorded import Recorded
from tocsin_cluster.clusters import OneCluster
from tocsin_cluster.snapshot import SnapshotCluster
from tocsin_contracts import (
    Alert,
    CauseClass,
    Finding,
    HypothesisFormed,
    InvestigationInconclusive,
    PlanDrafted,
    RunFinished,
    RunId,
    RunState,
)
from tocsin_gitops import editing
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.objects import Commit
from tocsin_gitops.source import BlobFile
from tocsin_kit.clock import SystemClock
from tocsin_rca import analyzers, collectors
from tocsin_rca.analyzers import analyze
from tocsin_rca.collectors.history import GitHistory
from tocsin_rca.evidence import Case
from tocsin_rca.evidence.conclusion import DECISIVE
from tocsin_rca.investigation import telling
from tocsin_rca.investigation.known import Known
from tocsin_rca.nodes import answer
from tocsin_rca.ports import World
from tocsin_testing.fakes import FakeClock, FakeRuns
from tocsin_testing.gate import FakeApprovals
from tocsin_testing.issues import FakeIssues
from tocsin_testing.readings import alerts_of
from tocsin_validation import checks
from tocsin_validation import graph as validating
from tocsin_validation.assembly import Outside, assembled
from tocsin_validation.nodes import Nodes

RUN = RunId("bench")
LETTERS_OF_A_TOKEN = 4


class InMemory:
    """A repository of a few commits that is no repository."""

    def __init__(self, case: Recorded) -> None:
        self._steps = revisions.commits(case)

    async def head(self, repo: Repository) -> str:
        return self._sha(len(self._steps) - 1)

    async def files(self, repo: Repository, sha: str) -> dict[str, BlobFile]:
        texts = self._steps[int(sha, 16)].files
        return {path: BlobFile(data, "100644") for path, data in texts.items()}

    async def commits(
        self, repo: Repository, sha: str, path: str = "", limit: int = 20
    ) -> tuple[Commit, ...]:
        found = [self._commit(n) for n in reversed(range(len(self._steps)))]
        return tuple(one for one in found if not path or path in one.files)[:limit]

    async def brought(self, repo: Repository, sha: str, commit: str) -> tuple[str, str]:
        return self._commit(int(commit, 16)).parent, commit

    async def show(self, repo: Repository, sha: str, path: str) -> bytes | None:
        return self._steps[int(sha, 16)].files.get(path)

    async def pulls(self, repo: Repository, head_branch: str) -> tuple[()]:
        return ()

    async def open_pulls(self, repo: Repository) -> tuple[()]:
        return ()

    async def touched(self, repo: Repository, number: int) -> tuple[()]:
        return ()

    async def branch(self, repo: Repository, name: str) -> None:
        return None

    def _commit(self, n: int) -> Commit:
        step, before = self._steps[n], self._steps[n - 1].files if n else {}
        changed = tuple(p for p, data in step.files.items() if before.get(p) != data)
        parent = self._sha(n - 1) if n else ""
        return Commit(self._sha(n), parent, step.team, step.at, step.subject, changed)

    @staticmethod
    def _sha(n: int) -> str:
        return f"{n:040x}"


class OneShot:
    """The validation graph without checkpoints."""

    def __init__(self, nodes: Nodes) -> None:
        self._graph = validating.build(nodes).compile()

    async def run(self, run_id: str, attempt: str, start: Any) -> Any:
        return await self._graph.ainvoke(start)


async def judge(case: Recorded, folder: Path) -> dict[str, Any]:
    """Return what becomes of one case, as a line of predictions."""
    bundles.write(case, folder)
    source = InMemory(case)
    repo = Repository(name="cases/one", git_dir=folder / "none.git", paths=("**",))
    gitops = GitOps(repositories=(repo,))
    alert = alert_of(case)
    cluster = SnapshotCluster(folder)
    world = World(OneCluster(cluster), GitHistory(source, gitops), SystemClock())
    began = time.perf_counter()
    seen = await collectors.collect(alert, world, Budget(500, 60, time.monotonic))
    findings = analyze(seen, analyzers.load())
    ms = 1000 * (time.perf_counter() - began)
    told = answer(RUN, seen, findings, 1, ())
    outside = Outside(
        gitops, source, world.clusters, FakeIssues(), FakeRuns(), FakeApprovals(FakeClock())
    )
    handlers = assembled(outside, checks.load(), OneShot)
    if isinstance(told, HypothesisFormed):
        events = await handlers.on_hypothesis_formed(told)
    else:
        events = await handlers.on_inconclusive(told)
    best = _best(told)
    known = Known(told, 1, frozenset(), (), world.clock.now())
    return {
        "id": case.id,
        "cls": best.cause.value if best else "",
        "family": best.cause.family.value if best else "",
        "object": f"{best.object.kind}/{best.object.name}" if best else "",
        **_action(case, events),
        "alternatives": [finding.cause.value for finding in findings if finding is not best],
        "ms": round(ms, 1),
        "request_tokens": request_tokens(known),
        "decided": known.is_decided,
        "case": seen,
        "findings": findings,
        "events": events,
    }


def request_tokens(known: Known) -> int:
    """Roughly how many tokens the first request to a model has; every further one has more."""
    request = telling.told(
        known, telling.Clusters(""), telling.MOST_CHARACTERS, lambda: "0" * 16
    ).text
    return (len(telling.ROLE) + len(request)) // LETTERS_OF_A_TOKEN


def alert_of(case: Recorded) -> Alert:
    payload = {"version": "4", "status": "firing", "alerts": [dict(case.alert)]}
    return alerts_of("alertmanager", payload)[0]


def _best(told: HypothesisFormed | InvestigationInconclusive) -> Finding | None:
    if isinstance(told, HypothesisFormed):
        return told.hypothesis.finding
    return told.candidates[0] if told.candidates else None


def _action(case: Recorded, events: Any) -> dict[str, Any]:
    for event in events:
        if isinstance(event, PlanDrafted):
            before = {file: text.encode() for file, text in case.manifests.items()}
            after = editing.apply(before, event.plan.edits)
            edited = {file: data.decode() for file, data in after.items() if file in before}
            return {"action": "edit" if edited else "escalate", "files": edited}
        if isinstance(event, RunFinished) and event.outcome is RunState.NO_CHANGE:
            return {"action": "none", "files": {}}
    return {"action": "escalate", "files": {}}


def show(case: Case, line: Mapping[str, Any], *, more: bool) -> Iterator[str]:
    """Say what was seen, found and concluded."""
    yield f"  workload {case.workload}, named {case.named}"
    if more:
        for seen in case.observations:
            first = seen.evidence.excerpt.strip().splitlines()[:1]
            yield f"  {seen.id:>4} {seen.evidence.kind:9} {seen.evidence.query[:70]} | {first}"
    for finding in line["findings"]:
        change = finding.change
        yield f"  {finding.confidence:.2f} {finding.cause} {finding.object}: {finding.summary}"
        if change:
            yield f"       {'.'.join(map(str, change.path))}: {change.old!r} -> {change.new!r}"
    for event in line["events"]:
        sentence = getattr(event, "sentence", "")
        yield f"  {type(event).__name__} {sentence}"


def yardstick(case: Recorded) -> float:
    """Milliseconds that it takes to parse the case's own files as YAML."""
    began = time.perf_counter()
    for text in case.manifests.values():
        list(yaml.load_all(text, Loader=yaml.CSafeLoader))
    for item in case.evidence:
        json.loads(json.dumps(item.data)) if item.text is None else item.text.splitlines()
    return 1000 * (time.perf_counter() - began)


async def in_process(cases: list[Recorded], options: argparse.Namespace) -> list[dict[str, Any]]:
    truths = truths_of(options.cases)
    lines = []
    with tempfile.TemporaryDirectory() as root:
        for number, case in enumerate(cases):
            line = await judge(case, Path(root) / str(number))
            seen = line.pop("case")
            truth = truths.get(case.id, {})
            right = "" if not truth else "ok " if truth.get("cls") == line["cls"] else "NO "
            wanted = f" (is {truth.get('cls')}, {truth.get('fix')})" if truth else ""
            if not options.wrong or right == "NO ":
                print(f"{right}{case.id}: {line['cls'] or '-'} {line['action']}{wanted}")
                if options.verbose:
                    print("\n".join(show(seen, line, more=options.verbose > 1)))
            lines.append(line)
    return lines


def piped(cases: list[Recorded], options: argparse.Namespace) -> list[dict[str, Any]]:
    """Feed the cases through the processes that run in production."""
    with tempfile.TemporaryDirectory() as folder:
        chosen, out = Path(folder) / "cases.jsonl", Path(folder) / "predictions.jsonl"
        wanted = {case.id for case in cases}
        rows = [row for row in options.cases.read_text().splitlines() if row.strip()]
        kept = [row for row in rows if str(json.loads(row)["id"]) in wanted]
        chosen.write_text("".join(f"{row}\n" for row in kept))
        command = [sys.executable, "-m", "tocsin_cli", "eval", chosen, "--out", out, "--no-model"]
        subprocess.run(command, check=True)
        lines = [json.loads(line) for line in out.read_text().splitlines()]
    return [
        line
        | {"cls": line["cls"] or "", "family": line["family"] or ""}
        | {"decided": (line["confidence"] or 0) >= DECISIVE}
        for line in lines
    ]


def truths_of(path: Path) -> dict[str, dict[str, Any]]:
    """What the lines say is right, by id; only for counting."""
    rows = (json.loads(line) for line in path.read_text().splitlines() if line.strip())
    return {row["id"]: row.get("truth") or {} for row in rows}


def summary(lines: list[dict[str, Any]], cases: list[Recorded], path: Path) -> Iterator[str]:
    """Accuracy by family, abstentions, what a model is spared, and time beside the yardstick."""
    truths = truths_of(path)
    known = {name: cause.family.value for name, cause in CauseClass.__members__.items()}
    by_family: dict[str, list[tuple[bool, bool, bool]]] = collections.defaultdict(list)
    for line in lines:
        truth = truths.get(line["id"]) or {}
        family = truth.get("family") or known.get(str(truth.get("cls")).upper(), "?")
        right = (line["cls"] == truth.get("cls"), line["family"] == family)
        by_family[family].append((*right, line["action"] == truth.get("fix")))
    yield f"{'family':16} {'cases':>5} {'class':>6} {'family':>6} {'action':>6}"
    for family, found in [
        *sorted(by_family.items()),
        ("all", [*itertools.chain.from_iterable(by_family.values())]),
    ]:
        shares = [sum(column) / len(found) for column in zip(*found, strict=True)]
        yield f"{family:16} {len(found):5} " + " ".join(f"{share:6.2f}" for share in shares)
    silent = sum(not line["cls"] for line in lines)
    yield f"abstentions: {silent} of {len(lines)}"
    yield saved(lines)
    took = sorted(line["ms"] for line in lines if line["ms"] is not None)
    parsing = sorted(yardstick(case) for case in cases)
    p95, floor = (values[int(0.95 * (len(values) - 1))] for values in (took, parsing))
    yield f"p95 of a diagnosis: {p95:.0f} ms, {p95 / max(floor, 0.01):.0f} x parsing its files"


def saved(lines: list[dict[str, Any]]) -> str:
    """What the analyzers spare a model: each of its investigations takes one call or more."""
    spared = [line for line in lines if line["decided"]]
    tokens = sum(line.get("request_tokens", 0) for line in spared)
    told = f", and {tokens} tokens" if tokens else "; --in-process counts the tokens as well"
    return f"model calls saved: at least {len(spared)} of {len(lines)}{told}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--in-process", action="store_true", help="no servers, no processes")
    parser.add_argument("--only", default="", help="ids that hold this word")
    parser.add_argument("--wrong", action="store_true", help="show only what is not right")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="findings; twice: all")
    parser.add_argument("--out", type=Path, help="write the predictions, one a line")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    cases = [case for case in recorded.read(options.cases) if options.only in case.id]
    if not cases:
        sys.exit(f"no case of {options.cases} holds {options.only!r} in its id")
    lines = asyncio.run(in_process(cases, options)) if options.in_process else piped(cases, options)
    kept = [{k: v for k, v in line.items() if k not in ("findings", "events")} for line in lines]
    if options.out:
        options.out.write_text("".join(f"{json.dumps(line)}\n" for line in kept))
    print("\n".join(summary(kept, cases, options.cases)))


if __name__ == "__main__":
    sys.exit(main())
