"""Ask a person a question while everything else goes on running."""

import asyncio
import sys


async def answer() -> str:
    """Return the next line of standard input without its end; empty if there is none."""
    loop = asyncio.get_running_loop()
    typed = asyncio.Event()
    try:
        loop.add_reader(sys.stdin, typed.set)
    except PermissionError:
        return sys.stdin.readline().strip()  # a plain file never keeps anyone waiting
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline().strip()
