"""A service that keeps dying is started less and less often, but never given up."""

from tocsin_kit.backoff import Backoff


def test_waits_double_up_to_the_longest():
    backoff = Backoff()
    assert [backoff.after(1) for _ in range(7)] == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]


def test_a_healthy_life_starts_it_over():
    backoff = Backoff()
    waits = [backoff.after(lived) for lived in (1, 1, 31, 1)]
    assert waits == [0.2, 0.4, 0.2, 0.4]
