"""How many comments of a run are answered within an hour."""

from datetime import timedelta

import pytest

from tocsin_kit import store
from tocsin_kit.answered import Answered
from tocsin_testing.build import NOW, RUN

pytestmark = pytest.mark.servers


@pytest.fixture
async def answered(redis_url):
    client = store.connect(redis_url)
    yield Answered(client, most=2)
    await client.aclose()


async def test_so_many_comments_of_a_run_get_an_answer_within_an_hour(answered):
    assert [await answered.takes(RUN, f"e{n}", NOW) for n in range(3)] == [True, True, False]
    assert await answered.takes("r2", "e9", NOW), "another run has places of its own"


async def test_p5_a_comment_that_is_handled_again_takes_no_second_place(answered):
    for _ in range(3):
        assert await answered.takes(RUN, "e1", NOW)
    assert await answered.takes(RUN, "e2", NOW)


async def test_places_are_free_again_after_an_hour(answered):
    for n in range(2):
        await answered.takes(RUN, f"e{n}", NOW)
    assert not await answered.takes(RUN, "late", NOW + timedelta(minutes=59))
    assert await answered.takes(RUN, "late", NOW + timedelta(minutes=61))
