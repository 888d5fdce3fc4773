"""Which repository, file and document a change belongs to: the first sure answer, or none."""

from tocsin_validation.resolving.answers import Unresolved
from tocsin_validation.resolving.resolver import Resolver
from tocsin_validation.resolving.searching import Resolved

__all__ = ["Resolved", "Resolver", "Unresolved"]
