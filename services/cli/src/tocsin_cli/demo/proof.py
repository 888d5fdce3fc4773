"""Look at what was really written, with git and the file system, without asking Tocsin."""

from collections.abc import Sequence
from dataclasses import dataclass

from tocsin_cli.demo.git import git
from tocsin_cli.demo.history import BRANCH
from tocsin_cli.demo.stage import Stage

FILE = "apps/payments-api/overlays/prod/patch-resources.yaml"
BEFORE = (
    """                        memory: "384Mi"    # a whole batch must fit; ask payments-team"""
)
AFTER = """                        memory: "1Gi"    # a whole batch must fit; ask payments-team"""


@dataclass(frozen=True, slots=True)
class Written:
    """What exists in the repository and beside it."""

    branches: tuple[str, ...]
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """Something the demo shows, and whether it turned out so."""

    sentence: str
    holds: bool


def written(stage: Stage) -> Written:
    """Return the branches that Tocsin made and the pull requests that were recorded."""
    names = git(stage.git_dir, "for-each-ref", "--format=%(refname:short)", "refs/heads")
    branches = tuple(name for name in names.split() if name != BRANCH)
    return Written(branches, tuple(str(path) for path in sorted(stage.records.glob("*.json"))))


def diff(stage: Stage, branch: str) -> str:
    """Return what the branch changes, as git sees it."""
    return git(stage.git_dir, "diff", f"{BRANCH}..{branch}", "--")


def is_the_fix(unified: str) -> bool:
    """Whether a diff replaces exactly the guilty line, byte for byte, and nothing else."""
    lines = unified.splitlines()
    body = [line for line in lines if not line.startswith(("+++", "---"))]
    changed = [line for line in body if line.startswith(("+", "-"))]
    files = [line for line in lines if line.startswith("diff --git")]
    return changed == [f"-{BEFORE}", f"+{AFTER}"] and files == [f"diff --git a/{FILE} b/{FILE}"]


def nothing_written(now: Written) -> Claim:
    """After a no there is no branch and no pull request."""
    return Claim("nothing was written: no branch, no pull request", now == Written((), ()))


def one_pull_request(now: Written) -> Claim:
    """There is one branch of ours and one pull request."""
    ours = len(now.branches) == 1 and now.branches[0].startswith("tocsin/")
    return Claim("exactly one branch and one pull request", ours and len(now.records) == 1)


def all_hold(claims: Sequence[Claim]) -> bool:
    """Whether everything turned out so."""
    return all(claim.holds for claim in claims)
