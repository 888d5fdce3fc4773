"""What can go wrong for a command, and the exit code that says so.

TocsinError
├── TransientError
│   └── UnreachableError   4   nobody answers at the address
└── PermanentError         1
    ├── UsageError         2   the command cannot be understood
    └── RefusedError       3   Tocsin was reached and said no
"""

from enum import IntEnum

from tocsin_kit.errors import PermanentError, TocsinError, TransientError


class ExitCode(IntEnum):
    """What the process's exit code means."""

    OK = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    UNREACHABLE = 4
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.OK: "done",
    ExitCode.FAILED: "failed; of `doctor` that there is a problem, of `eval` that a case failed",
    ExitCode.USAGE: "the command line cannot be understood, or lacks something",
    ExitCode.REFUSED: "Tocsin was reached and said no, and why",
    ExitCode.UNREACHABLE: "nobody answered at the address",
    ExitCode.INTERRUPTED: "interrupted, such as by Ctrl-C",
}
"""What each exit code says to a script."""


class UsageError(PermanentError):
    """The command line lacks something that only its user knows."""


class RefusedError(PermanentError):
    """Tocsin said no; the message says why and what to do."""


class UnreachableError(TransientError):
    """Nobody answered at an address."""


def exit_code(error: TocsinError) -> ExitCode:
    """Return the exit code that tells a script what kind of failure it was."""
    match error:
        case UsageError():
            return ExitCode.USAGE
        case RefusedError():
            return ExitCode.REFUSED
        case TransientError():
            return ExitCode.UNREACHABLE
        case _:
            return ExitCode.FAILED
