"""Small wrappers around a toolset: each adds one promise, and they stack in any order."""

from tocsin_agents.tools.wrappers.approval import needs_approval
from tocsin_agents.tools.wrappers.auditing import audited
from tocsin_agents.tools.wrappers.limiting import budgeted, timed
from tocsin_agents.tools.wrappers.narrowing import filtered, only_reads, prefixed
from tocsin_agents.tools.wrappers.redacting import redacted

__all__ = [
    "audited",
    "budgeted",
    "filtered",
    "needs_approval",
    "only_reads",
    "prefixed",
    "redacted",
    "timed",
]
