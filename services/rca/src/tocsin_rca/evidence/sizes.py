"""Sizes of requests that people choose, and the largest one that leaves room on a node."""

from decimal import Decimal

_MI = Decimal(2**20)
_GI = Decimal(2**30)
_CPU = tuple(
    (Decimal(text) if not text.endswith("m") else Decimal(text[:-1]) / 1000, text)
    for text in (
        *("20m", "25m", "40m", "50m", "100m", "200m", "250m", "400m", "500m", "750m", "1", "1500m"),
        *("2", "3", "4", "6", "8", "12", "16", "24", "32"),
    )
)
MEMORY = tuple(
    (size, f"{size // _GI}Gi" if size % _GI == 0 else f"{size // _MI}Mi")
    for size in sorted(n * _MI for base in range(4, 18) for n in (2**base, 3 * 2 ** (base - 1)))
)
"""Usual sizes in bytes, the least first, and how people write them."""

_ROOM = Decimal("0.75")
_FURTHEST = 4
_LEAST_CPU = Decimal("0.05")


def fitting(resource: str, asked: Decimal, largest: Decimal) -> str | None:
    """Return the largest usual size that leaves a quarter of the largest node; or None.

    None also if that is less than a quarter of what is asked for: then nobody can tell what is.
    """
    sizes = _CPU if resource == "cpu" else MEMORY
    found = [text for size, text in sizes if asked / _FURTHEST <= size <= largest * _ROOM]
    return found[-1] if found else None


def doubled_cpu(limit: Decimal) -> str | None:
    """Return the next usual number of cores that is at least twice a limit, at most four times.

    Of less than that, no program can do much: there it is nearer to the most.
    """
    least = max(2 * limit, min(_FURTHEST * limit, _LEAST_CPU))
    found = (text for size, text in _CPU if least <= size <= _FURTHEST * limit)
    return next(found, None)
