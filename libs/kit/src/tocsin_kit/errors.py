"""How a handler says what should happen to the message it could not finish.

TocsinError
├── TransientError   try again later (network, rate limit, lock held)
│   ├── FullError    try again much later: there is no room for anything new
│   └── NotYetError  try again soon: it is not the message's turn, and nothing is wrong
└── PermanentError   never try again (bad payload, forbidden, impossible)

Anything else that escapes a handler is a bug: it is retried a few times and then parked.
A refusal that a person should see is not an error at all: it is an event.
"""

NEVER_STARTS = 78
"""Exit code of a service whose settings or files are wrong: EX_CONFIG of sysexits.h."""


class TocsinError(Exception):
    """Base of everything this project raises on purpose."""


class TransientError(TocsinError):
    """The same message may succeed later; `retry_in` is in seconds."""

    def __init__(self, message: str, *, retry_in: float = 5.0) -> None:
        super().__init__(message)
        self.retry_in = retry_in


class FullError(TransientError):
    """There is no room for new work until old work is done or forgotten."""

    def __init__(self, message: str, *, retry_in: float = 30.0) -> None:
        super().__init__(message, retry_in=retry_in)


class NotYetError(TransientError):
    """It is not this message's turn yet."""


class PermanentError(TocsinError):
    """The same message can never succeed."""
