"""Kubernetes quantities as exact numbers: 128Mi, 500m, 0.5, 1e3."""

import re
from decimal import Context, Decimal

from tocsin_contracts import Scalar
from tocsin_kit.errors import PermanentError

_FORM = re.compile(
    r"([+-]?(?:\d{1,18}\.?\d{0,18}|\.\d{1,18}))([a-zA-Z]{0,2}|[eE][+-]?\d{1,2})", re.ASCII
)
_EXACT = Context(prec=120)
_BINARY = {unit: Decimal(1024) ** power for power, unit in enumerate("KMGTPE", start=1)}
_DECIMAL = {
    unit: Decimal(10) ** power
    for unit, power in zip(("n", "u", "m", "", "k", *"MGTPE"), range(-9, 19, 3), strict=True)
}


class NotAQuantity(PermanentError):  # noqa: N818 - says what the value is
    """The value is no Kubernetes quantity."""


def parse(value: Scalar) -> Decimal:
    """Return the quantity in bytes, cores or pieces; NotAQuantity says what is wrong."""
    match = _FORM.fullmatch(str(value)) if not isinstance(value, bool | None) else None
    if match is None:
        raise NotAQuantity(f"{value!r} is no quantity such as 128Mi or 500m")
    return _EXACT.multiply(Decimal(match[1]), _factor(match[2], value))


def _factor(suffix: str, value: Scalar) -> Decimal:
    if suffix[1:2] == "i" and suffix[0] in _BINARY:
        return _BINARY[suffix[0]]
    if suffix in _DECIMAL:
        return _DECIMAL[suffix]
    if suffix[0] in "eE" and suffix[1:].lstrip("+-").isdigit():
        return Decimal(10) ** int(suffix[1:])
    raise NotAQuantity(f"{value!r} has the unknown suffix {suffix!r}")
