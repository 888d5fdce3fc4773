"""Samples with one value that its sender would never send: read or refused, and fit for the bus."""

import contextlib
import copy
import itertools
import json
from pathlib import Path

import pytest

from tocsin_ingest import sources
from tocsin_ingest.ports import BadPayloadError
from tocsin_testing.readings import alerts_of

SAMPLES = Path(__file__).parents[2] / "contract" / "samples" / "sources"
LARGEST = 40 * 1024
ODD = [
    None,
    True,
    -1,
    10**39,
    1e300,
    "",
    "x" * 3000,
    "9" * 400,
    "1e999",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
    "\x1b[31mé\u200b",
    "http://[::1",
    [],
    [1],
    [{}],
    {},
    {"a": [{}]},
]
EACH = 3
"""Odd values that each place gets; neighbours get others."""


def places(value, path=()):
    yield path
    inner = {}
    if isinstance(value, dict):
        inner = value
    elif isinstance(value, list):
        inner = dict(enumerate(value[:2]))
    for name, one in inner.items():
        yield from places(one, (*path, name))


def changed(value, path, odd):
    if not path:
        return odd
    whole = at = copy.deepcopy(value)
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = odd
    return whole


def headers_of(name):
    beside = SAMPLES / f"{name}.headers.json"
    return json.loads(beside.read_bytes()) if beside.exists() else {}


@pytest.mark.parametrize("name", [source.name for source in sources.load()])
def test_p1_no_odd_value_in_a_sample_breaks_its_source(name):
    sample = json.loads((SAMPLES / f"{name}.json").read_bytes())
    odd = itertools.cycle(ODD)
    for path in places(sample):
        for one in itertools.islice(odd, EACH):
            with contextlib.suppress(BadPayloadError):
                alerts = alerts_of(name, changed(sample, path, one), headers=headers_of(name))
                assert all(len(alert.model_dump_json()) < LARGEST for alert in alerts)
