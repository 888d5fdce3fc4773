"""Lines in which a program says that something failed."""

import re

from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.lines import Line, lines

_SEVERE = re.compile(
    r"(?i)\b(?:error|fatal|panic|severe|critical|exception|traceback|unhandled|segfault)\b"
    r"|\b[A-Z]\w{1,60}(?:Error|Exception)\b|[\"' =]5\d\d[\"' ,]|level=(?:error|fatal)"
)
_HARMLESS = re.compile(
    r"(?i)\b(?:0 errors?|no errors?|errors?[=:] ?0|without errors?|error_log|on[-_ ]error|debug)\b"
    r"|error=(?:nil|null|none|<nil>|\"\"|-)(?:\s|$)|error[ _-](?:budget|pages?)"
    r"|errors\.html|\bINFO\b.{0,200}\berror[-_ ]?(?:rate|handler|page|template|channel|counter)"
)


def complaints(case: Case) -> tuple[Line, ...]:
    """Return the lines of logs that tell of an error."""
    found = (line for line in lines(case, checks=False) if is_complaint(line.text))
    return tuple(found)


def is_complaint(text: str) -> bool:
    """Whether a line tells of an error."""
    return _SEVERE.search(text) is not None and _HARMLESS.search(text) is None
