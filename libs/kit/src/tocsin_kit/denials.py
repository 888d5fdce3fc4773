"""Name what the bus refuses: whoever published only sees that no answer comes."""

import re

from tocsin_kit import logging
from tocsin_kit.metrics import Counter

DENIED = Counter("tocsin_bus_denied_total", "What the bus refused to this service.", ["operation"])
for _operation in ("publish", "subscription"):
    DENIED.labels(_operation)  # a 0 is worth more than nothing to who watches it

_VIOLATION = re.compile(
    r"permissions violation for (publish|subscription) to \"([^\"]+)\"", re.IGNORECASE
)

log = logging.get(__name__)


def tell(error: Exception, user: str = "") -> None:
    """Log one error that a client met; what its user may not do is counted too.

    The client tells the subject in lower case.
    """
    found = _VIOLATION.search(str(error))
    if not found:
        log.warning("bus.client_error", error=repr(error))
        return
    operation = found[1].lower()
    DENIED.labels(operation).inc()
    log.error("bus.denied", operation=operation, subject=found[2], user=user)


def user_of(nats_url: str) -> str:
    """Return who logs in by an address, or by the first of several; empty where nobody is named."""
    before, _, _ = nats_url.partition(",")[0].partition("://")[2].rpartition("@")
    return before.partition(":")[0]
