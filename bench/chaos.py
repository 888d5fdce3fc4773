"""Histories of faults on real processes: `python bench/chaos.py --seeds 20`, or `--seed 7` again.

Each seed starts every service, a bus, a store, a forge and a Slack, harms them while alerts come
and people decide, lets them heal, and judges what is left by the promises. A broken promise is
printed with its seed, and the log of that seed is kept.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tocsin_testing.chaos.nemesis import LEFT_OUT
from tocsin_testing.chaos.seeds import FAULTS, Verdict, play

LOGS = Path(tempfile.gettempdir()) / "tocsin-chaos"


def one(seed: int, faults: int) -> Verdict:
    """Play a seed in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(play(seed, Path(folder), faults))


def told(verdict: Verdict, seconds: float) -> None:
    left = verdict.history
    runs = Counter(card.state.value for card in left.cards if card.state)
    print(
        f"seed {verdict.seed}: {len(verdict.broken)} violations, {seconds:.0f} s, "
        f"{len(left.facts)} facts, {len(left.commits)} commits, {dict(runs)}; "
        f"{', '.join(verdict.did)}",
        flush=True,
    )
    if verdict.broken:
        LOGS.mkdir(exist_ok=True)
        file = LOGS / f"{verdict.seed}.log"
        file.write_text("\n".join(verdict.log), encoding="utf-8")
        for sentence in (*verdict.broken, f"the log is in {file}"):
            print(f"  {sentence}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="how many, from --seed on")
    parser.add_argument("--seed", type=int, default=None, help="one seed, or the first of --seeds")
    parser.add_argument("--faults", type=int, default=FAULTS, help="how many in each history")
    given = parser.parse_args()
    logging.getLogger("nats").setLevel(logging.CRITICAL)  # it is killed on purpose
    alone = given.seed is not None and "--seeds" not in " ".join(sys.argv)
    first = given.seed or 0
    broken, count = 0, 1 if alone else given.seeds
    for seed in range(first, first + count):
        began = time.monotonic()
        verdict = one(seed, given.faults)
        told(verdict, time.monotonic() - began)
        broken += bool(verdict.broken)
    print(f"{count} histories, {broken} with violations")
    for fault, why in LEFT_OUT.items():
        print(f"left out: {fault}: {why}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
