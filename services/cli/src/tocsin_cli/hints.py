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
    """Return its path where it is below this folder, whose PATH is often not that of the shell."""
    called = Path(sys.argv[0])
    if called.name != _NAME:
        return _NAME
    here = Path.cwd()
    if called.is_absolute() and called.is_relative_to(here):
        return os.path.relpath(called, here)
    return _NAME if shutil.which(_NAME) else str(called)
