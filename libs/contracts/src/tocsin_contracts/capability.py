"""What using a tool can do to the world, so that it can be allowed or denied by that alone."""

from enum import StrEnum


class Capability(StrEnum):
    """From what only looks to what changes something; an unknown one is denied."""

    READ = "read"
    PROPOSE = "propose"
    NOTIFY = "notify"
    WRITE = "write"
