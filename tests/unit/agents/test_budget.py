import pytest

from tocsin_agents.budget import Budget, BudgetSpent


class Watch:
    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


def test_every_call_is_paid_for_before_it_is_made():
    budget = Budget(2, 60, Watch())
    budget.spend()
    budget.spend()
    with pytest.raises(BudgetSpent, match="the 2 calls of the investigation are made"):
        budget.spend()
    assert budget.calls_left == 0


def test_time_runs_out_even_when_calls_are_left():
    watch = Watch()
    budget = Budget(10, 1.5, watch)
    watch.seconds += 1.5
    with pytest.raises(BudgetSpent, match=r"the 1\.5 seconds of the investigation are over"):
        budget.spend()
    assert budget.calls_left == 10


def test_the_time_left_is_never_negative():
    watch = Watch()
    budget = Budget(1, 5, watch)
    watch.seconds += 2
    assert budget.seconds_left == 3
    watch.seconds += 20
    assert budget.seconds_left == 0
