"""The repository of a simulation, and the plans that its checks would draft."""

import functools
from pathlib import Path
from textwrap import dedent

from tocsin_contracts import Plan, RunId
from tocsin_gitops import editing, hashing
from tocsin_gitops.config import GitOps, Repository
from tocsin_testing import build

REPO, FILE = build.target().repo, build.target().file
MANIFEST = dedent("""\
    kind: Deployment
    metadata:
      name: payments-api
      namespace: payments
    spec:
      template:
        spec:
          containers:
            - name: api
              resources:
                limits:
                  memory: 128Mi
    """).encode()

FIXED = MANIFEST.replace(b"128Mi", b"256Mi")


@functools.cache
def gitops() -> GitOps:
    """Return what may be written where."""
    repository = Repository(name=REPO, git_dir=Path("none.git"), paths=("apps/**",))
    return GitOps(repositories=(repository,))


@functools.cache
def drafted(run_id: RunId, issue: str, base: str, manifest: bytes) -> Plan:
    """Return the plan of a run about an issue, for what the file holds at a commit."""
    edit = build.edit(new="256Mi")
    before = {FILE: manifest}
    after = editing.apply(before, (edit,))
    change = build.file_change(
        sha256_before=hashing.sha256(manifest), sha256_after=hashing.sha256(after[FILE])
    )
    return build.plan(
        run_id=run_id,
        issue_key=issue,
        base_sha=base,
        parent_sha=base,
        edits=(edit,),
        files=(change,),
        diff=editing.unified_diff(before, after),
        head_branch=hashing.head_branch(issue, "payments-api-memory"),
        policy_version=gitops().policy.version,
    )
