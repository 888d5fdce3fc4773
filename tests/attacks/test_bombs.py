"""P8: files that are small and cost much when they are read: who wrote one stops nobody else."""

import asyncio

import pytest

from tocsin_contracts import HypothesisFormed
from tocsin_testing import build
from tocsin_testing.poisoned_shop import API, FILE, MEMORY, REPO

SECONDS = 20
"""Far more than a plan takes, and far less than the bombs would."""

ALIASES = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)
BOMBS = {
    "aliases": ALIASES,
    "brackets": "a: " + "[" * 3000 + "]" * 3000 + "\n",
    "braces": "a: " + "{a: " * 3000 + "1" + "}" * 3000 + "\n",
    "open brackets": "a: " + "[" * 20_000 + "\n",
    "indents": "".join(f"{' ' * n}a{n}:\n" for n in range(1500)),
    "documents": "---\n" * 50_000,
    "tags": "a: !!python/object/apply:os.system [exit]\n",
}


def formed():
    change = build.field_change(object=API, path=MEMORY)
    finding = build.finding(object=API, change=change)
    hypothesis = build.hypothesis(finding=finding)
    return build.event(HypothesisFormed, run_id="r1", hypothesis=hypothesis)


@pytest.mark.parametrize("bomb", BOMBS)
async def test_p8_a_bomb_in_a_repository_does_not_stop_a_plan_for_another_file(shop, bomb):
    besieged = shop({})
    besieged.repositories.commit(REPO, {"apps/bomb.yaml": BOMBS[bomb]})
    await besieged.note(build.alert_accepted(run_id="r1"))
    async with asyncio.timeout(SECONDS):
        asked = await besieged.carry_on(formed())
    assert asked is not None, [type(one).__name__ for one in besieged.events]
    assert asked.plan.target.file == FILE
