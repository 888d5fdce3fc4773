"""What git says when a fetch fails, and what that means for a person."""

from enum import Enum


class Failure(Enum):
    """A kind of failure, as the sentence that tells a person what to do."""

    REFUSED = "cannot be read without a token that is taken (401); {needs}"
    FORBIDDEN = "may not be read with this token (403); {needs}"
    MISSING = (
        "is not there, or not to be seen with this token (404); "
        "look at its name in gitops.yaml; {needs}"
    )
    NO_BRANCH = "has no branch {branch!r}; mend `branch` in gitops.yaml"
    MOVED = "has moved, and redirects are not followed; write its new name into gitops.yaml"
    TOO_BIG = "has more than {bytes} bytes, which is more than is fetched"
    DAMAGED = "holds objects that git calls damaged; `git fsck` in a clone of it says which"
    PROTOCOL = "is not fetched over this protocol; mend git_base of its provider in gitops.yaml"
    AWAY = "is away"


_SIGNS = (
    (Failure.REFUSED, ("could not read Username", "Authentication failed", "error: 401")),
    (Failure.FORBIDDEN, ("returned error: 403",)),
    (Failure.MISSING, ("returned error: 404", "' not found")),
    (Failure.NO_BRANCH, ("couldn't find remote ref",)),
    (Failure.MOVED, ("returned error: 3", "url base from redirection")),
    (Failure.TOO_BIG, ("File too large",)),
    (Failure.DAMAGED, ("fsck error",)),
    (Failure.PROTOCOL, ("transport '",)),
)


def kind(said: str) -> Failure:
    """Return what git's own words mean; what is not known is taken for a host that is away."""
    return next((kind for kind, signs in _SIGNS if any(s in said for s in signs)), Failure.AWAY)
