"""Who may steer a run by comments: people who may approve, by ids that forges never give anew."""

import re
from collections.abc import Iterable

from tocsin_contracts import ForgeAuthor, ForgeKind

_ID = re.compile(rf"({'|'.join(ForgeKind)}):[A-Za-z0-9_-]{{1,64}}")


class Steering:
    """Knows the approvers, and the accounts that are our own, which never steer."""

    def __init__(self, approvers: Iterable[str], own: Iterable[str]) -> None:
        self._allowed = frozenset(approvers) - frozenset(own)

    def allows(self, author: str) -> bool:
        """Whether an author such as `github:583231` may; a name that is no such id never may."""
        return is_account(author) and author in self._allowed


def is_account(name: str) -> bool:
    """Whether a name is that of an account at a forge, such as `github:583231`."""
    return bool(_ID.fullmatch(name))


def author_id(forge: ForgeKind, author: ForgeAuthor) -> str:
    """Return who wrote something, as approvers are named."""
    return f"{forge.value}:{author.id}"
