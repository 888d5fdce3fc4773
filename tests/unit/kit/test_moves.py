"""The laws of moves: what may start, what may wait, and what is dropped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin_contracts import OPEN_STATES, RunState
from tocsin_kit.moves import ANY, OPEN, join, move

STATES = st.sets(st.sampled_from(list(RunState)), min_size=1)


@given(STATES, st.none() | st.sampled_from(OPEN_STATES))
def test_what_may_wait_is_open_and_no_start(starts, during):
    allowed = move(*starts, during=during)
    assert allowed.earlier <= set(OPEN_STATES) - allowed.starts


@given(st.sets(st.sampled_from(OPEN_STATES), min_size=1), st.sampled_from(OPEN_STATES))
def test_an_open_state_before_the_last_start_may_wait_and_one_after_it_never(starts, state):
    last = max(OPEN_STATES.index(start) for start in starts)
    expected = OPEN_STATES.index(state) < last and state not in starts
    assert (state in move(*starts).earlier) is expected


@given(st.sets(st.sampled_from([s for s in RunState if s.terminal]), min_size=1))
def test_nothing_waits_for_a_run_to_end(terminal):
    assert move(*terminal).earlier == frozenset()


def test_the_working_state_may_be_resumed_from():
    assert move(RunState.RECEIVED, during=RunState.INVESTIGATING).starts == {
        RunState.RECEIVED,
        RunState.INVESTIGATING,
    }


def test_p4_from_open_states_nothing_terminal_can_start():
    assert OPEN.starts == set(OPEN_STATES)
    assert ANY.starts == set(RunState)


def test_a_wish_to_stop_stops_work_but_not_what_ends_or_watches_runs():
    assert move(RunState.RECEIVED).stoppable
    assert not OPEN.stoppable
    assert not ANY.stoppable


@given(STATES)
def test_states_are_written_earliest_first_whatever_order_they_come_in(states):
    written = join(states).split(",")
    assert written == [state.value for state in RunState if state in states]
    assert join(sorted(states)) == join(sorted(states, reverse=True))


@pytest.mark.parametrize("state", list(RunState))
def test_no_state_is_part_of_the_name_of_a_list_it_is_not_in(state):
    """The scripts look for `,state,` in `,list,`."""
    others = f",{join(set(RunState) - {state})},"
    assert f",{state.value}," not in others
