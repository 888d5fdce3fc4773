"""Ask a person a question while everything else goes on running."""

import asyncio
import sys

from rich.console import Console


async def ask(console: Console, question: str) -> str:
    """Return the next line of standard input without its end; empty if there is none."""
    console.print(f"{question} ", end="", markup=False, highlight=False)
    return await _line()


async def _line() -> str:
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
