"""The arguments that several tools take, explained once, and the kind that none of them takes."""

from typing import Annotated

from pydantic import Field

from tocsin_kit.errors import PermanentError

Kind = Annotated[
    str, Field(description="The kind as the API spells it, such as Deployment; never Secret.")
]
Name = Annotated[str, Field(description="The name of the object.")]
Namespace = Annotated[
    str, Field(description="Its namespace; empty for what is in none, such as a Node.")
]
Cluster = Annotated[
    str, Field(description="The name of one cluster; empty for all that are connected.")
]
Repository = Annotated[str, Field(description="The name of the repository.")]

_NEVER_READ = frozenset({"secret", "secrets", "secretlist"})


def readable(kind: str) -> str:
    """Return the kind; PermanentError for Secrets, however they are spelled."""
    if kind.strip().casefold().partition(".")[0] in _NEVER_READ:
        raise PermanentError("Secrets are never read; ask for another kind")
    return kind.strip()
