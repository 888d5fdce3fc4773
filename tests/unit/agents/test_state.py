"""State: scoped names, plain values, and deltas that say exactly what changed."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_agents.state import Scope, State, lasting, merged, scope_of, scoped
from tocsin_kit.errors import PermanentError

KEYS = st.from_regex(r"((app|user|run|temp):)?[a-z]{1,3}", fullmatch=True)
JSON = st.recursive(
    st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
STEPS = st.lists(st.tuples(KEYS, st.none() | JSON), max_size=8)


def test_a_key_without_a_scope_belongs_to_the_run():
    assert (scoped("cause"), scoped("user:name")) == ("run:cause", "user:name")
    assert scope_of("temp:x") is Scope.TEMP


@pytest.mark.parametrize("key", ["", "a b", "team:x", "run:", "{x}", "x" * 80])
def test_a_key_that_no_template_could_name_is_refused(key):
    with pytest.raises(PermanentError, match="no key of state"):
        scoped(key)


@settings(max_examples=30)
@given(STEPS, STEPS)
def test_the_values_after_are_the_values_before_with_the_changes(before, steps):
    first = State({})
    for key, value in before:
        first[key] = value
    values = merged({}, first.changes)
    state = State(values)
    for key, value in steps:
        state[key] = value
    after = merged(values, state.changes)
    assert {key: state[key] for key in state} == after
    assert json.loads(json.dumps(after)) == after


@settings(max_examples=30)
@given(STEPS)
def test_what_is_temporary_is_in_no_lasting_change(steps):
    state = State({})
    for key, value in steps:
        state[key] = value
    kept = lasting(state.changes)
    assert [key for key in kept if key.startswith("temp:")] == []
    assert set(state.changes) - set(kept) == {key for key in state.changes if "temp:" in key}


def test_a_value_that_is_changed_outside_is_not_changed_inside():
    given = {"pods": ["a"]}
    state = State({})
    state["seen"] = given
    given["pods"].append("b")
    state["seen"]["pods"].append("c")
    assert state["seen"] == {"pods": ["a"]}


def test_a_value_that_no_event_could_hold_is_refused():
    with pytest.raises(PermanentError, match="state 'x' cannot hold set"):
        State({})["x"] = {1}


def test_what_is_removed_is_missing():
    state = State({"run:x": 1})
    del state["x"]
    assert "x" not in state
    assert state.get("x", 7) == 7
    assert state.changes == {"run:x": None}
