"""Read the counts that kubectl writes beside ages, such as `2m12s (x42 over 12m)`."""

import re

_COUNT = re.compile(r"\(x(?P<count>\d{1,9})(?: over \S{1,20})?\)")


def count(text: str) -> int:
    """Return how often something was seen; once if the text does not say."""
    found = _COUNT.search(text)
    return int(found["count"]) if found else 1
