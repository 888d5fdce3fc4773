"""A few histories of faults on real processes; `./just chaos` plays as many as you like."""

import pytest

from tocsin_testing.chaos.seeds import play

pytestmark = pytest.mark.e2e

SEEDS, FAULTS = (1, 2), 4


@pytest.mark.parametrize("seed", SEEDS)
async def test_p1_to_p8_hold_whatever_a_seed_does(tmp_path, seed):
    verdict = await play(seed, tmp_path, FAULTS)
    assert verdict.broken == (), f"seed {seed}: {verdict.did}\n" + "\n".join(verdict.log[-60:])
    assert verdict.history.taken != ()
