"""Run a service that dies or stops at one named point, once: the fault that a test asks for.

The service's own code knows nothing of it. A marker file remembers that the fault has happened,
so that the restarted service runs through.
"""

import importlib
import os
import signal
from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from tocsin_gitops.forges import records
from tocsin_gitops.pulls import PullRequest
from tocsin_kit.bus import Bus
from tocsin_kit.intake import Intake
from tocsin_kit.outbox import Outbox
from tocsin_kit.runs import BeginVerdict, RunStore

SERVICE = "TOCSIN_CRASH_SERVICE"
POINT = "TOCSIN_CRASH_POINT"
MARK = "TOCSIN_CRASH_MARK"
SIGNAL = "TOCSIN_CRASH_SIGNAL"

Method = Callable[..., Awaitable[Any]]


class CrashPoint(StrEnum):
    """Where a process can be made to die."""

    AFTER_BEGIN = "after-begin"
    BEFORE_COMMIT = "before-commit"
    AFTER_COMMIT = "after-commit"
    AFTER_PUBLISH = "after-publish"
    AFTER_ADMIT = "after-admit"
    AFTER_TELL = "after-tell"
    AFTER_REDEEM = "after-redeem"
    AFTER_BRANCH = "after-branch"


def main() -> None:
    """Set the trap, then be the service."""
    _TRAPS[CrashPoint(os.environ[POINT])]()
    importlib.import_module(f"tocsin_{os.environ[SERVICE]}.__main__").main()


def die_once() -> None:
    """Send this process the signal of the test, unless it has happened before."""
    try:
        Path(os.environ[MARK]).touch(exist_ok=False)
    except FileExistsError:
        return
    signal.raise_signal(signal.Signals[os.environ[SIGNAL]])


def _before(owner: type, name: str) -> None:
    real: Method = getattr(owner, name)

    async def trapped(*args: Any, **kwargs: Any) -> Any:
        die_once()
        return await real(*args, **kwargs)

    setattr(owner, name, trapped)


def _after(owner: type, name: str, when: Callable[[Any], bool] = lambda _: True) -> None:
    real: Method = getattr(owner, name)

    async def trapped(*args: Any, **kwargs: Any) -> Any:
        answer = await real(*args, **kwargs)
        if when(answer):
            die_once()
        return answer

    setattr(owner, name, trapped)


def _after_branch() -> None:
    """Between the branch and the record of its pull request, which is written in a thread."""
    real = records.create

    def trapped(file: Path, pull: PullRequest) -> PullRequest:
        die_once()
        return real(file, pull)

    records.create = trapped


_TRAPS: dict[CrashPoint, Callable[[], None]] = {
    CrashPoint.AFTER_BEGIN: lambda: _after(
        RunStore, "begin", lambda begin: begin.verdict is BeginVerdict.GO
    ),
    CrashPoint.BEFORE_COMMIT: lambda: _before(RunStore, "commit"),
    CrashPoint.AFTER_COMMIT: lambda: _after(RunStore, "commit"),
    CrashPoint.AFTER_PUBLISH: lambda: _after(Bus, "publish"),
    CrashPoint.AFTER_ADMIT: lambda: _after(Intake, "admit"),
    CrashPoint.AFTER_TELL: lambda: _after(Intake, "tell"),
    CrashPoint.AFTER_REDEEM: lambda: _before(Outbox, "send"),
    CrashPoint.AFTER_BRANCH: _after_branch,
}
