"""New runs are refused while the stream of facts is nearly full, and not by turns."""

import asyncio
import contextlib

import pytest

from tocsin_kit.errors import TransientError
from tocsin_kit.filling import Filling
from tocsin_testing.harness import until


class Stream:
    """A stream of which a test says how full it is; an error is an answer too."""

    def __init__(self, *answers):
        self.answers = list(answers)

    async def fill(self):
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


async def seen(*ratios):
    filling = Filling(Stream(*ratios).fill)
    rooms = []
    for _ in ratios:
        await filling.look()
        rooms.append(filling.has_room())
    return rooms


def test_before_the_first_look_there_is_room():
    filling = Filling(Stream(1.0).fill)
    assert (filling.has_room(), filling.notice()) == (True, "")


@pytest.mark.parametrize(
    ("ratios", "rooms"),
    [
        ((0.0, 0.79, 0.80, 1.0), (True, True, False, False)),
        ((0.80, 0.79, 0.75, 0.749), (False, False, False, True)),
        ((0.80, 0.70, 0.79, 0.81), (False, True, True, False)),
    ],
)
async def test_from_80_percent_on_until_it_is_below_75_there_is_no_room(ratios, rooms):
    assert await seen(*ratios) == list(rooms)


async def test_an_operator_is_told_how_full_it_is():
    filling = Filling(Stream(0.834).fill)
    await filling.look()
    assert filling.notice() == "new runs are refused: the stream of facts is 83% full"


async def test_while_nobody_answers_what_was_seen_last_holds_and_the_looks_go_on(monkeypatch):
    monkeypatch.setattr("tocsin_kit.filling.LOOK_SECONDS", 0)
    stream = Stream(0.9, TransientError("silent"), TransientError("silent"))
    filling = Filling(stream.fill)
    looking = asyncio.create_task(filling.keep_looking())
    await until(lambda: asyncio.sleep(0, len(stream.answers)), lambda left: left == 1)
    assert not filling.has_room()
    stream.answers = [0.1]
    await until(lambda: asyncio.sleep(0, filling.has_room()), bool)
    looking.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await looking
