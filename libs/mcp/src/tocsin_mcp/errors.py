"""What can go wrong with an MCP server.

TransientError
└── LostError      the connection is gone, or was never there; a session makes a new one
    └── SilentError   a call was not answered in time; the connection may be good
PermanentError
├── RefusedError   the server took the call and said no: unknown tool, wrong arguments
│   └── NotOfferedError   we did not even ask: not allowed, not accepted, or changed
└── ConfigError    servers.yaml, the pins or a setting cannot be right
"""

from tocsin_kit.errors import PermanentError, TransientError


class LostError(TransientError):
    """The server is not connected; the message says why and, where it is known, what to do."""


class SilentError(LostError):
    """The server did not answer in time."""


class RefusedError(PermanentError):
    """The server will not do this, however often it is asked."""


class NotOfferedError(RefusedError):
    """The tool may not be used; the message says what would have to be done."""


class ConfigError(PermanentError):
    """What an operator wrote about MCP servers cannot be right; the message names the place."""
