"""A recent commit that explains a fault is undone exactly, and nothing else of it."""

import dataclasses
from datetime import timedelta
from pathlib import Path

import pytest

from tocsin_contracts import ChangeOp, ObjectRef
from tocsin_rca import analyzers
from tocsin_rca.evidence.curing import cured
from tocsin_rca.evidence.restoring import given_back
from tocsin_rca.evidence.undoing import histories
from tocsin_rca.ports import ChangedField

SAMPLES = Path(__file__).parent / "samples"
API = ObjectRef(kind="Deployment", namespace="shop", name="api")
BOX = ("spec", "containers", "[name=api]")


def field(path, before, after):
    return ChangedField(document=API, path=(*BOX, *path), before=before, after=after)


def back(container, *fields, depth=1):
    now = {"spec": {"containers": [{"name": "api", **container}]}}
    found = given_back(API, now, fields, lambda one: one.path[: len(BOX) + depth])
    return [(one.op, one.path[len(BOX) :], one.before, one.after) for one in found]


def test_what_was_changed_gets_its_old_value():
    assert back({"image": "a:2"}, field(("image",), "a:1", "a:2")) == [
        (ChangeOp.SET, ("image",), "a:2", "a:1")
    ]


def test_a_command_that_was_added_goes_as_a_whole():
    added = (field(("command", 0), None, "sh"), field(("command", 1), None, "-c"))
    assert back({"command": ["sh", "-c"]}, *added) == [
        (ChangeOp.DELETE, ("command",), ["sh", "-c"], None)
    ]


def test_of_a_list_that_was_there_only_the_added_item_goes():
    assert back({"args": ["a", "b"]}, field(("args", 1), None, "b")) == [
        (ChangeOp.DELETE, ("args", 1), "b", None)
    ]


def test_a_section_that_was_removed_comes_back_with_all_that_was_in_it():
    removed = (
        field(("env", "[name=MODE]", "name"), "MODE", None),
        field(("env", "[name=MODE]", "value"), "fast", None),
    )
    assert back({}, *removed) == [
        (ChangeOp.INSERT, ("env",), None, [{"name": "MODE", "value": "fast"}])
    ]


def test_a_variable_that_was_removed_is_added_to_those_that_are_left():
    left = [{"name": "A", "value": "1"}]
    removed = (
        field(("env", "[name=B]", "name"), "B", None),
        field(("env", "[name=B]", "value"), "2", None),
    )
    assert back({"env": left}, *removed) == [
        (ChangeOp.APPEND, ("env",), left, {"name": "B", "value": "2"})
    ]


def test_an_argument_that_stood_before_others_cannot_be_given_back():
    assert back({"args": ["b"]}, field(("args", 3), "a", None)) == []


@pytest.fixture
async def without_cure(investigate):
    """Return the case of a sample, and its finding as if nobody knew what to do."""
    case = await investigate(SAMPLES / "command")
    name = {one.name: one for one in analyzers.load()}["command"]
    finding = name.analyze(case)[0]
    return case, finding.model_copy(update={"change": None, "because": ""})


def began(case, shift):
    at = histories(case)[0].data.at + shift
    alert = case.alert.model_copy(update={"starts_at": at})
    return dataclasses.replace(case, alert=alert)


def test_the_last_commit_before_the_alert_is_undone_and_named(without_cure):
    case, finding = without_cure
    told = cured(began(case, timedelta(hours=1)), finding)
    assert told.change.undo_of == histories(case)[0].data.commit
    assert histories(case)[0].id in told.evidence


@pytest.mark.parametrize("shift", [timedelta(days=30), timedelta(hours=-1)])
def test_a_commit_of_long_ago_or_after_the_alert_explains_nothing(without_cure, shift):
    case, finding = without_cure
    assert cured(began(case, shift), finding) == finding


def test_what_is_not_sure_is_not_undone(without_cure):
    case, finding = without_cure
    unsure = finding.model_copy(update={"confidence": 0.6})
    assert cured(began(case, timedelta(hours=1)), unsure) == unsure


def test_a_commit_that_did_not_write_the_word_that_is_missing_is_left_alone(without_cure):
    case, finding = without_cure
    other = finding.model_copy(update={"summary": "It cannot start something else."})
    assert cured(began(case, timedelta(hours=1)), other) == other
