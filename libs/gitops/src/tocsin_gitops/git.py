"""The one owner of the git binary: plumbing on bare repositories, bounded and without surprises."""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tocsin_kit import children
from tocsin_kit.errors import PermanentError, TransientError

_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsync=all",
    "core.filesRefLockTimeout=2000",
    "gc.auto=0",
)
_BLOCK = 512
"""Bytes in the unit of `ulimit -f`."""


class GitFailed(PermanentError):  # noqa: N818 - says what git did, in git's own words
    """Git said no; asking again would not help."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a command runs in beyond the usual.

    A file over `largest_file` bytes ends the command. The file descriptors in `held` stay open
    until the last process of it has ended, whatever becomes of ours.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    largest_file: int = 0
    held: tuple[int, ...] = ()


class Git:
    """Runs git commands on one bare repository; raises GitFailed, or TransientError for a retry."""

    def __init__(
        self, git_dir: Path, timeout: float = 30.0, surroundings: Surroundings | None = None
    ) -> None:
        self._around = surroundings or Surroundings()
        options = [word for option in _OPTIONS for word in ("-c", option)]
        limit = _limit(self._around.largest_file)
        self._command = (*limit, "git", *options, f"--git-dir={git_dir}")
        self._git_dir = git_dir
        self._timeout = timeout

    async def run(
        self,
        *args: str,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        ends: Sequence[int] = (0,),
    ) -> bytes:
        """Return what the command writes; arguments are passed as they are, never by a shell.

        Exit codes that are not among `ends` are failures.
        """
        process = await self._start(args, environment or {})
        try:
            async with asyncio.timeout(self._timeout):
                output, errors = await process.communicate(stdin)
        except TimeoutError as error:
            raise TransientError(f"{self._name(args)} took over {self._timeout:g} s") from error
        finally:
            await children.end(process)
        if process.returncode not in ends:
            raise self._failure(args, _own_words(errors.decode(errors="replace")))
        return output

    async def text(self, *args: str, stdin: bytes = b"") -> str:
        """Return what the command writes, as text without the line end."""
        return (await self.run(*args, stdin=stdin)).decode(errors="replace").strip()

    def _environment(self) -> dict[str, str]:
        path = os.environ.get("PATH", os.defpath)
        return {"PATH": path, **_ENVIRONMENT, **self._around.environment}

    async def _start(
        self, args: tuple[str, ...], environment: Mapping[str, str]
    ) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                *self._command,
                *args,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env={**self._environment(), **environment},
                pass_fds=self._around.held,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise PermanentError("there is no git on PATH; install git") from error

    def _failure(self, args: tuple[str, ...], errors: str) -> PermanentError | TransientError:
        if ".lock': File exists" in errors:
            return TransientError(f"{self._name(args)}: another process holds a lock: {errors}")
        return GitFailed(f"{self._name(args)} failed: {errors}")

    def _name(self, args: tuple[str, ...]) -> str:
        return f"git {args[0]} on {str(self._git_dir)!r}"


def _own_words(errors: str) -> str:
    """Leave out what another machine says through git, which marks each line of it."""
    rows = re.split(r"[\r\n]+", errors)
    return "\n".join(row for row in rows if not row.startswith("remote:")).strip()


def _limit(largest_file: int) -> tuple[str, ...]:
    """The shell sets the limit, so that no code of ours runs between fork and exec.

    Without the signal, what writes too much says so.
    """
    blocks = str(largest_file // _BLOCK)
    script = 'trap "" XFSZ && ulimit -f "$0" && exec "$@"'
    return ("sh", "-c", script, blocks) if largest_file else ()
