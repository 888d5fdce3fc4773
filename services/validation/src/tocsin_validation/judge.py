"""What is to be said of a change: the world is looked at once, then every check is asked."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tocsin_contracts import CheckResult, CheckVerdict, RunId
from tocsin_validation.checks.verdicts import ask
from tocsin_validation.outlook import risk
from tocsin_validation.outlook.risk import Judged
from tocsin_validation.ports import Check, Consequence, Proposed
from tocsin_validation.surroundings.surveyor import Pinned, Surveyor


@dataclass(frozen=True, slots=True)
class Failure:
    """A check that ends the change here, and what it said."""

    check: Check
    result: CheckResult


class Judge:
    """Asks the checks, in their order."""

    def __init__(self, checks: Iterable[Check], surveyor: Surveyor) -> None:
        self._checks = tuple(checks)
        self._surveyor = surveyor

    async def judge(
        self, run_id: RunId, change: Proposed, pinned: Pinned
    ) -> tuple[Judged, Failure | None]:
        """Return all that is to be shown, and the first failure that it does not survive."""
        around = await self._surveyor.look(run_id, change, pinned)
        return await asyncio.to_thread(self._judged, replace(change, around=around))

    def _judged(self, change: Proposed) -> tuple[Judged, Failure | None]:
        results = ask(self._checks, change)
        return risk.judged(change, results), next(self._failures(results), None)

    def _failures(self, results: Iterable[CheckResult]) -> Iterator[Failure]:
        for check, result in zip(self._checks, results, strict=True):
            lives = check.consequence is Consequence.WITH_CARE
            if result.verdict is CheckVerdict.FAIL and not lives:
                yield Failure(check, result)
