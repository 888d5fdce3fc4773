"""Whether two image references name two versions of one thing."""

from tocsin_gitops.images import parse


def only_version_differs(one: str, other: str) -> bool:
    """Whether two references name different tags or digests of the same repository."""
    first, second = parse(one), parse(other)
    return first.name == second.name and first.sound and second.sound and first != second
