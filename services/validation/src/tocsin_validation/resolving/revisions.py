"""Tell whether what a controller follows is the branch that a pull request can go to."""

import re
from dataclasses import dataclass
from enum import StrEnum

from tocsin_gitops.config import Repository
from tocsin_kit.untrusted import line
from tocsin_validation.resolving.checkouts import Checkouts

_COMMIT = re.compile(r"[0-9a-f]{7,40}|[0-9a-f]{64}")
_VERSION = re.compile(r"v?\d+\.\d+\.\d+([-+].*)?")
_RANGE = re.compile(r"[\^~<>=!*|,\s]|(^|\.)[xX](\.|$)")
_HEADS, _TAGS = "refs/heads/", "refs/tags/"
DEFAULT = ("", "HEAD")


class Says(StrEnum):
    """What kind of revision somebody says that it is; ANY where only its text can tell."""

    ANY = "any"
    BRANCH = "branch"
    TAG = "tag"
    SEMVER = "semver"
    COMMIT = "commit"
    REF = "ref"


@dataclass(frozen=True, slots=True)
class Revision:
    """What is followed, in the words of who follows it."""

    text: str = ""
    says: Says = Says.ANY

    def __str__(self) -> str:
        """Say it; nothing is the default branch."""
        return line(self.text) or "HEAD"


async def unwritable(revision: Revision, repository: Repository, checkouts: Checkouts) -> str:
    """Say why a commit on the repository's branch would not be deployed; empty if it would.

    The default branch is taken for the one that the operator configured.
    """
    text = revision.text.strip()
    if text.startswith(_HEADS) and revision.says in (Says.ANY, Says.BRANCH):
        text = text.removeprefix(_HEADS)
    if revision.says in (Says.ANY, Says.BRANCH) and text in (*DEFAULT, repository.branch):
        return ""
    kind = revision.says if revision.says is not Says.ANY else _kind(text)
    if kind is Says.ANY:
        there = await checkouts.branch(repository, text)
        kind = Says.BRANCH if there else Says.TAG
    return f"{_words(kind, line(text))}, and pull requests go to the branch {repository.branch!r}"


def _kind(text: str) -> Says:
    if text.startswith(_TAGS):
        return Says.TAG
    if _RANGE.search(text):
        return Says.SEMVER
    if _VERSION.fullmatch(text):
        return Says.TAG
    return Says.COMMIT if _COMMIT.fullmatch(text) else Says.ANY


def _words(kind: Says, text: str) -> str:
    match kind:
        case Says.COMMIT:
            return f"what is deployed is pinned to the commit {text!r}"
        case Says.SEMVER:
            return f"what is deployed is the newest tag within {text!r}"
        case Says.TAG:
            return f"what is deployed is pinned to the tag {text!r}"
        case Says.REF:
            return f"what is deployed is the ref {text!r}"
    return f"what is deployed is the branch {text!r}"
