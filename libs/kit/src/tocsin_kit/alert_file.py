"""An alert as a person hands it in: a file of JSON, or stdin."""

import sys
from pathlib import Path

from pydantic import ValidationError

from tocsin_contracts import Alert
from tocsin_kit.errors import PermanentError

STDIN = "-"


def read(file: str) -> Alert:
    """Return the alert of a file, or of stdin; PermanentError says what is wrong with it."""
    try:
        text = sys.stdin.read() if file == STDIN else Path(file).read_text(encoding="utf-8")
        return Alert.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        raise PermanentError(f"cannot read {file!r}: {error}") from error
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(step) for step in problem["loc"])
        raise PermanentError(f"{file!r} is no alert: {place}: {problem['msg']}") from error
