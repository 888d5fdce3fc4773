"""The ports on which programs say that they listen."""

import re

from tocsin_rca.evidence.case import Case

_SAYS = re.compile(
    r"(?i)\b(?:listen\w{0,4}|serving|started|running|bound|ready to accept|server|address)\b"
)
_PORT = re.compile(r"(?i)(?:(?::|\bports?\b[\s:=(]{1,3})(?P<port>\d{2,5}))(?![\d.:])")
_FAILS = re.compile(r"(?i)fail|refus|error|unable|cannot|could not|timed? ?out|lookup|dial ")
_LONGEST_LINE = 400


def ports_heard(case: Case, pods: str = "") -> dict[int, str]:
    """Return the ports that logs of pods whose names begin so say they listen on, with their ids.

    A log that does not say of which pod it is counts for all.
    """
    found: dict[int, str] = {}
    for log in case.logs:
        if not log.data.pod or log.data.pod.startswith(pods):
            for line in log.data.text.splitlines()[:500]:
                for port in _ports(line[:_LONGEST_LINE]):
                    found.setdefault(port, log.id)
    return found


def _ports(line: str) -> list[int]:
    if not _SAYS.search(line) or _FAILS.search(line):
        return []
    return [int(found["port"]) for found in _PORT.finditer(line)]
