"""Processes that we start for MCP: of our variables they see PATH and what is allowed."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence

from tocsin_kit import children
from tocsin_mcp.errors import LostError

_ADDED = ("HOME", "LOGNAME", "SHELL", "TERM", "USER")
"""What the protocol's library gives to every child, and we take away again."""


def program(command: str) -> str:
    """Return the path of a program; LostError when there is none."""
    found = shutil.which(command)
    if found is None:
        raise LostError(f"no program {command!r} on PATH; install it or give its path in 'command'")
    return found


def bare(command: str, args: Sequence[str], env: Mapping[str, str]) -> tuple[str, list[str]]:
    """Return a command line under which a server gets only PATH and `env`, and no home."""
    unset = [part for name in _ADDED if name not in env for part in ("-u", name)]
    return program("env"), [*unset, program(command), *args]


async def spawned(command: Sequence[str], limit: int) -> tuple[int, bytes]:
    """Run a program to its end; return its exit code and what it printed, up to `limit` bytes.

    One that is not waited for any longer is killed.
    """
    process = await asyncio.create_subprocess_exec(
        program(command[0]),
        *command[1:],
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PATH": os.environ.get("PATH", os.defpath)},
        start_new_session=True,
    )
    try:
        out, _ = await process.communicate()
    finally:
        await children.end(process)
    return process.returncode or 0, out[:limit]
