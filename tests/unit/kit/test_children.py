import asyncio
import sys

import pytest

from tocsin_kit import children

FULL = "import sys\nwhile True: sys.stdout.write('x' * 65536)"


async def started(text, **pipes):
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", text, start_new_session=True, limit=1, **pipes
    )


async def test_a_program_whose_pipe_is_full_and_unread_is_ended():
    process = await started(FULL, stdout=asyncio.subprocess.PIPE)
    await process.stdout.readexactly(1)
    async with asyncio.timeout(20):
        await children.end(process)
    assert process.returncode == -9


async def test_what_the_program_started_ends_with_it():
    text = "import subprocess, sys\nsubprocess.Popen(['sleep', '600'])\nprint(flush=True)\n"
    process = await started(text + "sys.stdin.read()", **dict.fromkeys(("stdin", "stdout"), -1))
    await process.stdout.readexactly(1)
    async with asyncio.timeout(20):
        await children.end(process)
    assert process.stdout.at_eof()


async def test_one_that_has_ended_is_left_alone():
    process = await started("pass")
    await process.wait()
    await children.end(process)
    assert process.returncode == 0


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_what_it_said_last_holds_nothing_up(stream):
    text = f"import sys\nsys.{stream}.write('x' * 10**6)"
    process = await started(text, **{stream: asyncio.subprocess.PIPE})
    async with asyncio.timeout(20):
        await children.end(process)
    assert process.returncode in (0, -9)
