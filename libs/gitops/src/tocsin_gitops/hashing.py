"""Everything that is derived by a digest: what an approval binds, and what names a branch."""

import hashlib
import json
import re

from tocsin_contracts import CauseClass, ObjectRef, Plan
from tocsin_gitops import messages

SCHEMA = "tocsin.plan.v1"
_TRAILER = re.compile(r"Tocsin-Plan: [0-9a-f]{64}\n*\Z")
_SLUG_LENGTH = 40
_UNDO = "|undo"


def plan_hash(plan: Plan, run_id: str) -> str:
    """Return the SHA-256, in hex, of all that a yes to this plan of this run allows.

    The diff, the checks and the risk are left out: they follow from what is in.
    """
    bound = {
        "schema": SCHEMA,
        "run_id": run_id,
        "host": plan.target.host,
        "repo": plan.target.repo,
        "base_branch": plan.target.base_branch,
        "base_sha": plan.base_sha,
        "head_branch": plan.head_branch,
        "parent_sha": plan.parent_sha,
        "intent": plan.intent.value,
        "files": [
            {
                "path": file.path,
                "mode": file.mode,
                "sha256_before": file.sha256_before,
                "sha256_after": file.sha256_after,
            }
            for file in plan.files
        ],
        "title": plan.title,
        "body_sha256": sha256(without_trailer(plan.body).encode()),
        "policy_version": plan.policy_version,
    }
    return sha256(canonical(bound))


def canonical(value: object) -> bytes:
    """Return the one way to write a JSON value that digests are taken of."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def sha256(data: bytes) -> str:
    """Return the digest in hex."""
    return hashlib.sha256(data).hexdigest()


def without_trailer(body: str) -> str:
    """Return the body without the closing line that shows the plan's hash."""
    return _TRAILER.sub("", body).rstrip("\n")


def with_trailer(body: str, plan_hash: str) -> str:
    """Return the body with a closing line that shows the plan's hash, in place of any other.

    It joins other trailers that the body ends with, for git takes the last paragraph alone.
    """
    bare = without_trailer(body)
    gap = "\n" if messages.trailers(bare) else "\n\n"
    return f"{bare}{gap}Tocsin-Plan: {plan_hash}\n".lstrip("\n")


def issue_key(cluster: str, repo: str, file: str, object: ObjectRef, cause: CauseClass) -> str:
    """Return what makes two runs propose the same change."""
    place = f"{object.kind}/{object.namespace}/{object.name}"
    return "|".join((cluster, repo, file, place, cause.value))


def head_branch(issue_key: str, slug_from: str) -> str:
    """Return the branch of an issue key: readable first, unique by its last ten digits."""
    slug = re.sub(r"[^a-z0-9]+", "-", slug_from.lower()).strip("-")
    slug = slug[:_SLUG_LENGTH].rstrip("-") or "change"
    return f"tocsin/{slug}-{sha256(issue_key.encode())[:10]}"


def numbered_branch(head_branch: str, number: int) -> str:
    """Return the branch of an issue for its first, second … pull request; none is used again."""
    return head_branch if number == 1 else f"{head_branch}-{number}"


def is_branch_of(head_branch: str, issue_key: str) -> bool:
    """Whether a branch is one of an issue's."""
    issue = sha256(issue_key.encode())[:10]
    return bool(re.fullmatch(rf"tocsin/[a-z0-9-]+-{issue}(-[1-9][0-9]?)?", head_branch))


def undo_key(issue_key: str) -> str:
    """Return the key of the undo of an issue's fix, which is an issue of its own."""
    return f"{issue_key}{_UNDO}"


def is_undo(issue_key: str) -> bool:
    """Whether a key is that of an undo."""
    return issue_key.endswith(_UNDO)
