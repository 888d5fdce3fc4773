"""How an adapter says that it could not look, so that nobody mistakes silence for health."""


class ClusterError(Exception):
    """The question could not be answered; the message says which one and what to do."""
