"""Commands that a person can paste as they were printed."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from tocsin_cli.workspace import DEFAULT

_NAME = "tocsin"


def command(*words: str, data: Path = DEFAULT) -> str:
    """Return a call of this program that means the same folder."""
    where = () if data.absolute() == DEFAULT.absolute() else ("--data", str(data))
    return shlex.join([_program(), *words, *where])


def _program() -> str:
    """Return how it was called, unless the shell finds it by name."""
    called = Path(sys.argv[0])
    if shutil.which(_NAME) or called.name != _NAME:
        return _NAME
    here = Path.cwd()
    near = called.is_absolute() and called.is_relative_to(here)
    return os.path.relpath(called, here) if near else str(called)
