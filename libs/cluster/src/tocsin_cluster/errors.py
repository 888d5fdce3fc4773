"""How an adapter says that it could not look, so that nobody mistakes silence for health."""

from tocsin_kit.errors import PermanentError


class ClusterError(PermanentError):
    """The question could not be answered; the message says which one and what to do."""
