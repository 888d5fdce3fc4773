"""What a search for the place of a change answers: the place, or why there is none."""

from dataclasses import dataclass
from enum import StrEnum

from tocsin_contracts import ChangeOp, Edit, EditOp, FieldChange, FieldPath, ObjectRef, Tree
from tocsin_gitops import trees
from tocsin_gitops.agreement import equal


class Reason(StrEnum):
    """Why no place was found; none of them is ever turned into a guess."""

    NOT_FOUND = "not_found"
    AMBIGUOUS = "ambiguous"
    SHARED = "shared"
    UNPARSEABLE = "unparseable"
    UNEDITABLE = "uneditable"


@dataclass(frozen=True, slots=True)
class Located:
    """The place, in the words of its file: for an `images` entry, old and new are tags.

    `old` is what the file says now; `agrees` tells whether that makes what the evidence saw, so
    False means that the file moved on. Of a value of a chart `renders` is what it makes.
    """

    file: str
    document: ObjectRef
    path: FieldPath
    old: Tree
    new: Tree
    agrees: bool
    trace: tuple[str, ...]
    op: ChangeOp = ChangeOp.SET
    undo_of: str = ""
    renders: FieldChange | None = None

    @property
    def done(self) -> bool:
        """Whether the file holds the new value already, in these words or in others."""
        if self.op is ChangeOp.APPEND:
            return isinstance(self.old, list) and any(trees.same(o, self.new) for o in self.old)
        return self.op is not ChangeOp.DELETE and equal(self.old, self.new, self.path)

    @property
    def edit(self) -> Edit:
        """The edit that makes the change."""
        old = {"old_tree" if isinstance(self.old, dict | list) else "old": self.old}
        new = {"new_tree" if isinstance(self.new, dict | list) else "new": self.new}
        op = EditOp(self.op.value)
        where = {"file": self.file, "document": self.document, "path": self.path}
        more = {"undo_of": self.undo_of, "renders": self.renders}
        return Edit.model_validate({"op": op, **more, **where, **old, **new})


@dataclass(frozen=True, slots=True)
class NotLocated:
    """Why the change has no one place, in a sentence, and what was looked at before."""

    reason: Reason
    sentence: str
    trace: tuple[str, ...]
