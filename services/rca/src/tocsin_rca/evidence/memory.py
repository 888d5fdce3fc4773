"""Sizes of memory, and the ones that people choose."""

from decimal import Decimal

from tocsin_contracts import Scalar
from tocsin_gitops.quantity import NotAQuantity, parse
from tocsin_rca.evidence.sizes import MEMORY


def bytes_of(quantity: Scalar) -> Decimal | None:
    """Return a quantity of memory in bytes; None for anything that is not a positive one."""
    try:
        size = parse(quantity)
    except NotAQuantity:
        return None
    return size if size > 0 else None


def same_size(one: Scalar, other: Scalar) -> bool:
    """Whether two quantities are the same memory: the API server writes 1024Mi as 1Gi."""
    size = bytes_of(one)
    return size is not None and size == bytes_of(other)


def doubled(limit: Scalar) -> str | None:
    """Return the next usual size that is at least twice a limit, at most four times; or None."""
    now = bytes_of(limit)
    if now is None:
        return None
    return next((text for size, text in MEMORY if 2 * now <= size <= 4 * now), None)


def fourfold(limit: Scalar) -> str | None:
    """Return the largest usual size that is at most four times a limit; or None."""
    now = bytes_of(limit)
    found = [text for size, text in MEMORY if now is not None and 2 * now <= size <= 4 * now]
    return found[-1] if found else None
