"""Runs as they were recorded long ago are read, folded and continued by the code of today."""

import json
from pathlib import Path

import pytest

from tocsin_contracts import BY_TOPIC, RunFinished, RunState
from tocsin_kit.rebuilding import Told
from tocsin_testing.chaos.checker import violations
from tocsin_testing.chaos.history import History

FOLDER = Path(__file__).parent / "recorded"
VERSIONS = {
    "cancelled": 4,
    "expired": 3,
    "pr_closed": 4,
    "pr_open": 3,
    "rejected": 3,
    "resolved": 5,
    "superseded": 2,
}
FILES = pytest.mark.parametrize("name", sorted(VERSIONS))


def lines(name):
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def parsed(name):
    return [BY_TOPIC[one["topic"]].model_validate(one["event"]) for one in lines(name)]


def folded(events):
    told = Told(events[0].run_id)
    for event in events:
        told.take(event)
    return told


def test_every_recorded_run_is_replayed():
    assert {file.stem for file in FOLDER.glob("*.jsonl")} == set(VERSIONS)


@FILES
def test_a_recorded_run_folds_into_the_state_that_it_had(name):
    told = folded(parsed(name))
    assert (told.state, told.version) == (RunState(name), VERSIONS[name])


@FILES
def test_a_recorded_run_takes_only_steps_that_are_legal_today(name):
    ended = {"i4_every_run_comes_to_rest", "i5_every_path_is_legal", "i5_an_id_is_one_fact"}
    broken = violations(History(facts=tuple(parsed(name))))
    assert [one for one in broken if one.partition(":")[0] in ended] == []


@FILES
def test_no_recorded_field_is_lost_by_reading(name):
    for one in lines(name):
        again = BY_TOPIC[one["topic"]].model_validate(one["event"]).model_dump(mode="json")
        assert missing(one["event"], again) == []


@FILES
def test_copies_in_reverse_order_after_the_end_change_nothing(name):
    events = parsed(name)
    told, again = folded(events), folded([*events, *reversed(events)])
    assert (again.state, again.version) == (told.state, told.version)


@FILES
def test_events_with_fields_of_the_future_stand_beside_those_without(name):
    newer = [{**one, "event": future(one["event"])} for one in lines(name)]
    mixed = [
        BY_TOPIC[new["topic"]].model_validate(new["event"] if number % 2 else old["event"])
        for number, (old, new) in enumerate(zip(lines(name), newer, strict=True))
    ]
    assert mixed == parsed(name)


def future(value):
    """Put a field that nobody knows into every object that has fields of its own."""
    if isinstance(value, list):
        return [future(one) for one in value]
    if not isinstance(value, dict):
        return value
    inner = {key: future(one) if key not in FREE else one for key, one in value.items()}
    return {**inner, "from_the_future": [{"a": 1}]}


FREE = ("labels", "annotations", "links", "parts")
"""Objects whose names are data: what is added there is read, and kept."""


def missing(before, after, where="event"):
    """Return the paths that are in what was recorded, and not in what was read of it."""
    if isinstance(before, dict) and isinstance(after, dict):
        gone = [f"{where}.{key}" for key in before.keys() - after.keys()]
        inner = before.keys() & after.keys()
        return gone + [
            p for key in inner for p in missing(before[key], after[key], f"{where}.{key}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = zip(before, after, strict=True)
        return [p for n, (b, a) in enumerate(pairs) for p in missing(b, a, f"{where}[{n}]")]
    return [] if before == after else [where]


def test_a_run_that_was_recorded_as_ended_says_why():
    for name in VERSIONS:
        told = folded(parsed(name))
        endings = [one for one in parsed(name) if isinstance(one, RunFinished)]
        assert bool(endings) is told.state.terminal
        assert all(ending.sentence for ending in endings)
