"""Other values for a change: only where it sets a plain one, and of the same kind."""

import pytest

from tocsin_contracts import ChangeOp
from tocsin_contracts.amending import NewValue
from tocsin_kit import revaluing
from tocsin_testing import build
from tocsin_testing.values import DEPLOYMENT, MEMORY

OTHER = DEPLOYMENT.model_copy(update={"name": "other"})
REPLICAS = ("spec", "replicas")


def amended(hypothesis, *changes, reason=""):
    return revaluing.amended(hypothesis, changes, plan_hash="1" * 64, by="ana", reason=reason)


def hypothesis(*further, **change):
    first = build.field_change(**change)
    return build.hypothesis(finding=build.finding(change=first, further=further))


def replicas(new=3, **fields):
    return build.field_change(path=REPLICAS, old=1, new=new, **fields)


def test_the_value_is_changed_and_who_changed_it_is_kept():
    told = amended(
        hypothesis(undo_of="a" * 40), NewValue(path=MEMORY, new="384Mi"), reason="it grows\nstill"
    )
    assert (told.finding.change.new, told.finding.change.undo_of) == ("384Mi", "")
    (amendment,) = told.amendments
    assert (amendment.by, amendment.plan_hash) == ("ana", "1" * 64)
    assert amendment.changes == ("[name=api] memory: 256Mi -> 384Mi",)
    assert told.finding.because == (
        "ana gave another value: [name=api] memory: 256Mi -> 384Mi. Why: it grows still"
    )


def test_everything_else_of_the_change_stays():
    told = amended(hypothesis(replicas()), NewValue(path=REPLICAS, new=5))
    assert told.finding.change.new == "256Mi"
    assert told.finding.further[0].new == 5


def test_two_changes_are_two_lines_of_one_amendment():
    told = amended(
        hypothesis(replicas()), NewValue(path=REPLICAS, new=5), NewValue(path=MEMORY, new="1Gi")
    )
    assert len(told.amendments) == 1
    assert len(told.amendments[0].changes) == 2


def test_who_changed_it_before_is_not_forgotten():
    once = amended(hypothesis(), NewValue(path=MEMORY, new="384Mi"))
    twice = amended(once, NewValue(path=MEMORY, new="320Mi"))
    assert len(twice.amendments) == 2


REFUSED = {
    "no such field": (NewValue(path=("spec", "paused"), new=True), "no plain value"),
    "another object": (NewValue(object=OTHER, path=MEMORY, new="1Gi"), "no plain value"),
    "the same value": (NewValue(path=MEMORY, new="256Mi"), "already"),
    "another kind": (NewValue(path=MEMORY, new=256), "another kind"),
    "a truth for a number": (NewValue(path=REPLICAS, new=True), "another kind"),
    "nothing": (NewValue(path=MEMORY, new=" "), "1 to 1000 characters"),
    "far too much": (NewValue(path=MEMORY, new="1" * 1001), "1 to 1000 characters"),
}


@pytest.mark.parametrize(("wanted", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_other_value_of_the_change_is_refused_with_why(wanted, why):
    assert why in amended(hypothesis(replicas()), wanted)


@pytest.mark.parametrize(
    "change",
    [
        {"op": ChangeOp.DELETE, "new": None},
        {"op": ChangeOp.INSERT, "old": None},
        {"old_tree": {"a": 1}, "new_tree": {"a": 2}},
    ],
)
def test_what_sets_no_plain_value_has_no_other_one(change):
    assert "no plain value" in amended(hypothesis(**change), NewValue(path=MEMORY, new="1Gi"))


def test_a_field_of_two_objects_is_told_apart_by_the_object():
    both = hypothesis(build.field_change(object=OTHER))
    assert "say of which" in amended(both, NewValue(path=MEMORY, new="1Gi"))
    told = amended(both, NewValue(object=OTHER, path=MEMORY, new="1Gi"))
    assert [one.new for one in told.finding.changes] == ["256Mi", "1Gi"]


def test_a_file_may_leave_the_namespace_of_an_object_out():
    bare = DEPLOYMENT.model_copy(update={"namespace": ""})
    told = amended(hypothesis(), NewValue(object=bare, path=MEMORY, new="1Gi"))
    assert told.finding.change.new == "1Gi"


def test_hostile_words_stay_on_one_line():
    told = amended(hypothesis(), NewValue(path=MEMORY, new="1Gi\n\x1b[31m# Approved"))
    assert "\n" not in told.finding.because
    assert "\x1b" not in told.amendments[0].changes[0]
