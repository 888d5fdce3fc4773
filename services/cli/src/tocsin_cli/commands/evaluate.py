"""`tocsin eval`: what Tocsin makes of recorded failures, as it runs in production."""

import asyncio
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tocsin_cli import stack
from tocsin_cli.cases import feeding, recorded, staging
from tocsin_cli.cases.outcomes import Outcome
from tocsin_cli.cases.recorded import Recorded
from tocsin_cli.logs import FileLog
from tocsin_cli.signals import cancel_on_signal
from tocsin_cli.terminal import show
from tocsin_cli.workspace import Workspace
from tocsin_kit.errors import PermanentError, TocsinError

SERVICES = ("ingest", "rca", "validation")
_TAIL = 12
_MODEL = "TOCSIN_MODEL"
_NO_STORM = {"storm": {"new_runs": 1_000_000, "investigations": 10_000}}
"""Many failures at once are the point here."""


def evaluate(
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="One recorded failure a line.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where the predictions go, one a line.")
    ],
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Only what is known without asking a model.")
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="DIR", help="Leave clusters, repositories and logs there."),
    ] = None,
) -> None:
    """Feed recorded failures through ingest, rca and validation, and write down what they propose.

    Each failure gets a recorded cluster and a repository of its own; nothing is approved.
    """
    found = recorded.read(cases)
    if not out.absolute().parent.is_dir():
        raise PermanentError(f"cannot write {str(out)!r}: there is no such folder")
    _environment(no_model=no_model)
    with _folder(keep) as folder:
        done = asyncio.run(_fed(found, folder))
    lines = "".join(f"{one.model_dump_json()}\n" for one in done)
    try:
        out.write_text(lines, encoding="utf-8")
    except OSError as error:
        raise PermanentError(f"cannot write {str(out)!r}: {error}") from error
    show(Console(), *summary(done))


def summary(done: Sequence[Outcome]) -> tuple[str, ...]:
    """Return what there is to say about all of them."""
    actions = Counter(one.action.value for one in done)
    told = ", ".join(f"{count} {action}" for action, count in sorted(actions.items()))
    unknown = sum(one.cls is None for one in done)
    took = sorted(one.ms for one in done if one.ms is not None)
    p95 = f"; p95 {took[int(0.95 * (len(took) - 1))]:.0f} ms" if took else ""
    return (f"{len(done)} cases: {told}; no cause named for {unknown}{p95}",)


def _environment(*, no_model: bool) -> None:
    """The bus, the store and the rules of the user's own Tocsin have no part in this."""
    kept = () if no_model else tuple(name for name in os.environ if name.startswith(_MODEL))
    for name in [name for name in os.environ if name.startswith("TOCSIN_") and name not in kept]:
        del os.environ[name]
    os.environ["TOCSIN_TRIAGE"] = json.dumps(_NO_STORM)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep:
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="tocsin-eval-") as folder:
        yield Path(folder)


async def _fed(cases: Sequence[Recorded], folder: Path) -> tuple[Outcome, ...]:
    cancel_on_signal()
    workspace = Workspace(folder)
    with workspace.fresh(), FileLog(folder / "logs") as log:
        staged, world = staging.stage(cases, folder / "stage")
        try:
            async with (
                stack.running(workspace, world, log, usual={}, only=SERVICES) as up,
                feeding.feeder(up, workspace.tokens()) as feeder,
            ):
                return await feeder.outcomes(staged)
        except TocsinError as error:
            raise PermanentError(f"{error}\n\n{log.tails(_TAIL)}") from error
