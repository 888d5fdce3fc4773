"""A question waits for its answer, and nothing else waits with it."""

import asyncio
import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from tocsin_cli import prompt


def asking() -> asyncio.Task[str]:
    return asyncio.create_task(prompt.ask(Console(file=io.StringIO()), "Approve? [y/N]"))


async def test_the_answer_is_the_next_line(monkeypatch):
    reader, writer = os.pipe()
    with os.fdopen(reader) as stdin, os.fdopen(writer, "w") as person:
        monkeypatch.setattr("sys.stdin", stdin)
        question = asking()
        await asyncio.sleep(0)
        assert not question.done()
        person.write("y\n")
        person.flush()
        assert await question == "y"


@pytest.fixture
def nobody(monkeypatch):
    with Path("/dev/null").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield


@pytest.mark.usefixtures("nobody")
async def test_nobody_there_is_no_answer():
    assert await asking() == ""


async def test_a_question_can_be_taken_back(monkeypatch):
    reader, writer = os.pipe()
    with os.fdopen(reader) as stdin, os.fdopen(writer, "w"):
        monkeypatch.setattr("sys.stdin", stdin)
        question = asking()
        await asyncio.sleep(0)
        question.cancel()
        await asyncio.wait([question])
        assert question.cancelled()
        assert not asyncio.get_running_loop().remove_reader(stdin)
