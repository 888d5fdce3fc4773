"""Whatever stands in a manifest: a finding changes scalars, or trees where it says so."""

import copy
import dataclasses
from pathlib import Path

import pytest

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ChangeOp
from tocsin_rca import analyzers

SAMPLES = Path(__file__).parent / "samples"
NAMES = [analyzer.name for analyzer in analyzers.load()]
ODD = (None, {"odd": 1}, ["odd"])
MOST = 60


def leaves(tree, path=()):
    """Yield the paths of the scalars of a spec; who an object is stays as it is."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for step, value in pairs:
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, step))
        elif step not in ("name", "kind", "namespace"):
            yield (*path, step)


def put(tree, path, value):
    *around, last = path
    for step in around:
        tree = tree[step]
    tree[last] = value


def oddities(case):
    """Yield the case again and again, each time with one strange value in one object."""
    for at, seen in enumerate(case.observations):
        if not isinstance(seen.data, Manifest) or not isinstance(seen.data.raw.get("spec"), dict):
            continue
        for number, path in enumerate(leaves(seen.data.raw["spec"], ("spec",))):
            raw = copy.deepcopy(dict(seen.data.raw))
            put(raw, path, ODD[number % len(ODD)])
            other = dataclasses.replace(seen, data=Manifest(raw, seen.data.whole))
            observations = (*case.observations[:at], other, *case.observations[at + 1 :])
            yield dataclasses.replace(case, observations=observations)


@pytest.mark.parametrize("name", NAMES)
async def test_a_strange_value_makes_no_strange_change(name, investigate):
    case = await investigate(SAMPLES / name)
    analyzer = next(one for one in analyzers.load() if one.name == name)
    for odd, _ in zip(oddities(case), range(MOST), strict=False):
        for finding in analyzers.analyze(odd, (analyzer,)):
            for change in finding.changes:
                assert change.op is not ChangeOp.SET or None not in (change.old, change.new)
