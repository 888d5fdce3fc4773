"""Which open pull requests of others are about the same file, and which about the same field."""

import re
from collections.abc import Sequence

from tocsin_contracts import Edit, EditOp, FailureCode, Tree
from tocsin_gitops import manifests, trees
from tocsin_gitops.config import Repository
from tocsin_gitops.pulls import PullRequest
from tocsin_gitops.yaml_paths import PathMissing, find
from tocsin_kit.errors import TocsinError
from tocsin_validation.facts import Rival
from tocsin_validation.ports import Proposed, Source
from tocsin_validation.surroundings.asked import NotTold

MOST_PULLS, MOST_PATHS = 30, 300
_UNSUPPORTED = FailureCode.UNSUPPORTED


async def competing(source: Source, change: Proposed, repository: Repository) -> tuple[Rival, ...]:
    """Return those on a file of the change; NotTold where there are more than can be looked at."""
    pulls = await source.open_pulls(repository)
    own = re.compile(rf"{re.escape(change.head_branch)}(-\d+)?")
    others = [one for one in pulls if not own.fullmatch(one.head_branch)]
    if len(others) > MOST_PULLS:
        raise NotTold(f"{len(others)} pull requests are open", _UNSUPPORTED)
    touched = [await source.touched(repository, one.number) for one in others]
    if any(len(paths) >= MOST_PATHS for paths in touched):
        raise NotTold("one of them touches more files than are listed", _UNSUPPORTED)
    found = []
    for one, paths in zip(others, touched, strict=True):
        if edits := [edit for edit in change.edits if edit.file in paths]:
            same = await _same_field(source, repository, one, (change, edits))
            found.append(Rival(one.url, same))
    return tuple(found)


async def _same_field(
    source: Source,
    repository: Repository,
    pull: PullRequest,
    of: tuple[Proposed, Sequence[Edit]],
) -> bool | None:
    """Whether its files hold other values there than the base; None if they cannot be read."""
    change, edits = of
    try:
        pairs = [(edit, await source.proposed(repository, pull, edit.file)) for edit in edits]
        return any(_differs(edit, change.before.get(edit.file), data) for edit, data in pairs)
    except TocsinError:
        return None


def _differs(edit: Edit, before: bytes | None, theirs: bytes | None) -> bool:
    if before is None or theirs is None or edit.op is EditOp.CREATE:
        return before != theirs
    old, new = _held(edit, before), _held(edit, theirs)
    return len(old) != len(new) or not all(map(trees.same, old, new))


def _held(edit: Edit, data: bytes) -> list[Tree]:
    """What a file holds in the field, in a list; an empty one for nothing."""
    if edit.document is None:
        return []
    document = manifests.meant(edit.file, data, edit.document)
    try:
        return [trees.read(find(document.node, edit.path))]
    except PathMissing:
        return []
