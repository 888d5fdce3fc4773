"""Short-lived credentials: read at every connect, so that a new session has a new one."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from tocsin_mcp.entries import CredentialSource
from tocsin_mcp.errors import LostError
from tocsin_mcp.processes import spawned

SECONDS = 10.0
LIMIT = 16 * 1024


async def read(source: CredentialSource, separator: str) -> Mapping[str, str]:
    """Return what the source says: a line for each, `Name: value` or `NAME=value`.

    LostError when it cannot be read; what it printed is never part of the message.
    """
    text = await _file(source.file) if source.file else await _printed(source.command)
    pairs = [line.partition(separator) for line in text.splitlines() if line.strip()]
    if not all(name.strip() and found for name, found, _ in pairs):
        raise LostError(f"{_name(source)} must give lines of the form 'NAME{separator}VALUE'")
    return {name.strip(): value.strip() for name, _, value in pairs}


async def _file(file: Path) -> str:
    try:
        return (await asyncio.to_thread(file.read_text, encoding="utf-8"))[:LIMIT]
    except (OSError, UnicodeDecodeError) as error:
        raise LostError(f"credentials: cannot read {str(file)!r}: {error}") from error


async def _printed(command: tuple[str, ...]) -> str:
    try:
        async with asyncio.timeout(SECONDS):
            code, out = await spawned(command, LIMIT)
    except (OSError, TimeoutError) as error:
        raise LostError(
            f"credentials: {command[0]!r} did not run: {error or 'too slow'}"
        ) from error
    if code:
        raise LostError(f"credentials: {command[0]!r} ended with exit code {code}")
    return out.decode(errors="replace")


def _name(source: CredentialSource) -> str:
    return f"credentials: {str(source.file or source.command[0])!r}"
