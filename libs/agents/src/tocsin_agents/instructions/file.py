"""A file of instructions for every agent, read again when its checksum has changed."""

import asyncio
import hashlib
from pathlib import Path

from tocsin_kit import logging
from tocsin_kit.errors import PermanentError

MOST_BYTES = 64 * 1024
"""It is read in every call, so it has to be short."""

log = logging.get(__name__)


class InstructionsFile:
    """Making it reads the file, and PermanentError says what is wrong with it.

    A file that is broken later changes nothing: what was read before stays, and the log says why.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text, self._sha256 = self._read()
        self._complaint = ""

    async def text(self) -> str:
        """Return what it says now."""
        await asyncio.to_thread(self._reload)
        return self._text

    def _reload(self) -> None:
        try:
            text, sha256 = self._read()
        except PermanentError as error:
            if str(error) != self._complaint:
                log.warning("agents.instructions_not_reloaded", why=str(error))
            self._complaint = str(error)
            return
        if sha256 != self._sha256:
            log.info("agents.instructions_reloaded", sha256=sha256)
        self._text, self._sha256, self._complaint = text, sha256, ""

    def _read(self) -> tuple[str, str]:
        file = f"the file of instructions {str(self._path)!r}"
        try:
            with self._path.open("rb") as opened:
                content = opened.read(MOST_BYTES + 1)
            text = content.decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PermanentError(f"{file} cannot be read: {error}") from error
        if len(content) > MOST_BYTES:
            raise PermanentError(f"{file} is longer than {MOST_BYTES} bytes")
        if not text.strip():
            raise PermanentError(f"{file} says nothing; write what every agent is to be told")
        return text, hashlib.sha256(content).hexdigest()
