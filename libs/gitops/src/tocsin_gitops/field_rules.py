"""The rules of the fields that may change; nothing else ever does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from tocsin_contracts import EditOp, FieldPath, Tree
from tocsin_gitops import additions, field_tables, undoable
from tocsin_gitops.bounds import Bound
from tocsin_gitops.field_tables import ANY, ByOp


@dataclass(frozen=True, slots=True)
class FieldRule:
    """One way to change one field of one kind; a step of the path may be `*` for any.

    What is `shown` must stand in evidence, as no bound can tell whether it is right. `narrow` is
    an exception for a kind that is never changed otherwise. `beside` judges what holds the field.
    What is `undone` may be given back, with all that is below it, by undoing a commit.
    """

    kind: str
    path: tuple[str, ...]
    bound: Bound
    op: EditOp = EditOp.SET
    shown: bool = False
    narrow: bool = False
    beside: Callable[[Tree], str] | None = None
    undone: bool = False

    @property
    def careful(self) -> bool:
        """Whether what it allows needs a closer look by the people who decide."""
        return self.shown or self.narrow or self.undone

    def covers(self, kind: str, path: FieldPath, op: EditOp) -> bool:
        """Whether this is the rule for that way to change that field."""
        if self.undone:
            path, op = path[: len(self.path)], self.op
        if (kind, op) != (self.kind, self.op) or len(path) != len(self.path):
            return False
        pairs = zip(self.path, path, strict=True)
        return all(mine in (ANY, step) for mine, step in pairs)

    def __str__(self) -> str:
        """Name the rule for the policy's version."""
        more = f":{self.shown:d}{self.narrow:d}:{self.beside.__name__ if self.beside else ''}"
        more += ":undone" if self.undone else ""
        return f"{self.op.value}:{self.kind}:{'/'.join(self.path)}:{self.bound.__name__}{more}"


def find(kind: str, path: FieldPath, op: EditOp = EditOp.SET) -> FieldRule | None:
    """Return the rule for a field, or None if it may not change."""
    return next((rule for rule in RULES if rule.covers(kind, path, op)), None)


def undone(kind: str, path: FieldPath) -> FieldRule | None:
    """Return the rule for a field that undoing a commit may change, whichever way."""
    return next((rule for rule in UNDONE if rule.covers(kind, path, rule.op)), None)


def _of_pods(pods: ByOp, *inside: str, shown: bool) -> Iterator[FieldRule]:
    for (kind, pod), (op, fields) in product(field_tables.PODS.items(), pods.items()):
        for field, bound in fields.items():
            yield FieldRule(kind, (*pod, *inside, *field), bound, op, shown)


def _of_others(others: ByOp, *, shown: bool = False, narrow: bool = False) -> Iterator[FieldRule]:
    for op, fields in others.items():
        for (kind, *path), bound in fields.items():
            beside = _BESIDE.get((kind, op))
            yield FieldRule(kind, tuple(path), bound, op, shown, narrow, beside)


_BESIDE: dict[tuple[str, EditOp], Callable[[Tree], str]] = {
    ("Service", EditOp.DELETE): additions.others_left,
}


def _rules() -> Iterator[FieldRule]:
    for containers in ("containers", "initContainers"):
        yield from _of_pods(field_tables.OF_CONTAINERS, containers, ANY, shown=False)
        yield from _of_pods(field_tables.OF_CONTAINERS_SHOWN, containers, ANY, shown=True)
    yield from _of_pods(field_tables.OF_PODS, shown=False)
    yield from _of_pods(field_tables.OF_PODS_SHOWN, shown=True)
    yield from _of_others(field_tables.OF_OTHERS)
    yield from _of_others(field_tables.OF_OTHERS_SHOWN, shown=True)
    yield from _of_others(field_tables.NARROW, narrow=True)


RULES = tuple(_rules())


def _undone() -> Iterator[FieldRule]:
    for (kind, pod), (field, bound) in product(
        field_tables.PODS.items(), undoable.IN_CONTAINERS.items()
    ):
        for containers in ("containers", "initContainers"):
            yield FieldRule(kind, (*pod, containers, ANY, *field), bound, undone=True)
    for (kind, pod), (field, bound) in product(field_tables.PODS.items(), undoable.IN_PODS.items()):
        yield FieldRule(kind, (*pod, *field), bound, undone=True)
    for (kind, *path), bound in undoable.IN_OTHERS.items():
        yield FieldRule(kind, tuple(path), bound, undone=True)


UNDONE = tuple(_undone())
