"""Output of services arrives whole, whatever its lines look like."""

import os

import pytest

from tocsin_cli.lines import lines


async def read(data: bytes, longest: int = 1024) -> list[str]:
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    return [line async for line in lines(reader, longest=longest)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\n\ntwo", ["one", "", "two"]),
        (b"caf\xc3\xa9 \xff\n", ["café \ufffd"]),
    ],
)
async def test_lines_come_without_their_ends(data, expected):
    assert await read(data) == expected


async def test_nothing_of_a_line_that_is_too_long_is_lost():
    pieces = await read(b"0123456789" * 7 + b"\nnext\n", longest=16)
    assert "".join(pieces) == "0123456789" * 7 + "next"
