"""Places for those who look on at chats: taken at once, given back once."""

import pytest

from tocsin_gateway.chat.seats import Seats
from tocsin_gateway.refusals import RefusedError


def status(seats, who):
    with pytest.raises(RefusedError) as refused:
        seats.take(who)
    assert int(refused.value.headers["Retry-After"]) > 0
    return refused.value.status


def test_a_burst_takes_no_more_seats_than_there_are():
    seats = Seats(most=3, of_one=2)
    leave = [seats.take(who) for who in ("ana", "ana", "bo")]
    assert [status(seats, who) for who in ("ana", "bo", "cy")] == [429, 503, 503]
    leave[0]()
    seats.take("cy")


def test_a_seat_that_is_given_back_twice_is_one_seat():
    seats = Seats(most=2)
    first, second = seats.take("ana"), seats.take("ana")
    first()
    first()
    third = seats.take("bo")
    assert status(seats, "bo") == 503
    second()
    third()
