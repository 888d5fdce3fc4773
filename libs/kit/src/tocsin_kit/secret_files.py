"""Secrets as files: a folder in which each file is named as the variable that it holds.

Docker and Kubernetes hand secrets over like that; no list of processes shows them, no inspection.
"""

import re
from collections.abc import Iterator, MutableMapping
from pathlib import Path

from tocsin_kit.errors import PermanentError

VARIABLE = "TOCSIN_SECRETS_DIR"
MOST_BYTES = 1024 * 1024

_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


def take(environment: MutableMapping[str, str]) -> None:
    """Put what the files hold into the environment, without the line end; nothing if none is named.

    Files of other names are none of ours. Raises PermanentError for what cannot be read, and
    for a variable that is set to something else already: which of two is meant, nobody can tell.
    """
    folder = environment.get(VARIABLE, "")
    for name, value in _found(folder) if folder else ():
        if environment.get(name) not in (None, "", value):
            raise PermanentError(f"{name} is set, and otherwise by a file in {folder!r}: keep one")
        environment[name] = value


def file_of(environment: MutableMapping[str, str], variable: str) -> Path | None:
    """Return the file that holds a variable, if one does."""
    folder = environment.get(VARIABLE, "")
    path = Path(folder, variable)
    return path if folder and path.is_file() else None


def _found(folder: str) -> Iterator[tuple[str, str]]:
    try:
        files = [path for path in sorted(Path(folder).iterdir()) if _NAME.fullmatch(path.name)]
        for path in files:
            if path.is_file():
                yield path.name, _text(path)
    except OSError as error:
        raise PermanentError(f"{VARIABLE}: cannot read {folder!r}: {error}") from error


def _text(path: Path) -> str:
    if path.stat().st_size > MOST_BYTES:
        raise PermanentError(f"{VARIABLE}: {str(path)!r} has over {MOST_BYTES} bytes")
    try:
        text = path.read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise PermanentError(f"{VARIABLE}: {str(path)!r} is no text") from error
    if "\0" in text:
        raise PermanentError(f"{VARIABLE}: {str(path)!r} is no text")
    return text
