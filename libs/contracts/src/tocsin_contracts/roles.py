"""What a person may do: four roles, of which each includes those before it."""

from enum import StrEnum


class Role(StrEnum):
    """One person's rights; the order is the order in which they grow."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    ADMIN = "admin"

    def includes(self, other: "Role") -> bool:
        """Whether who has this role may do what `other` may."""
        order = tuple(Role)
        return order.index(self) >= order.index(other)
