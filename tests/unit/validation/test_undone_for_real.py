"""The exact undo of a guilty commit, from its hypothesis to its pull request, on real git."""

import pytest

from tocsin_cli.demo import history
from tocsin_cli.demo.git import git
from tocsin_contracts import (
    CauseClass,
    EndReason,
    HypothesisFormed,
    PlanDrafted,
    PullRequestOpened,
    RunEscalated,
)
from tocsin_gitops.forges import LocalGitForge
from tocsin_gitops.source import LocalGitSource
from tocsin_testing import build

IMAGE = ("spec", "template", "spec", "containers", "[name=api]", "image")
GOOD, BAD = "registry.example/shop/api:1", "ghcr.example/fork/api:2"


def manifest(image, limit="128Mi"):
    return "\n".join(
        [
            *("apiVersion: apps/v1", "kind: Deployment", "metadata:", "  name: payments-api"),
            *("  namespace: payments", "spec:", "  template:", "    spec:", "      containers:"),
            *("        - name: api", f"          image: {image}", "          resources:"),
            *("            limits:", f"              memory: {limit}  # be careful", ""),
        ]
    ).encode()


@pytest.fixture
def real(world, tmp_path):
    """Both services on a bare repository, whose second commit is guilty and whose third is not."""
    git_dir = tmp_path / "platform.git"
    world.__init__(git_dir)
    world.source, world.forge = LocalGitSource(), LocalGitForge(world.clock.now)
    contents = (manifest(GOOD), manifest(BAD), manifest(BAD, "256Mi"))
    commits = [
        history.Commit(team, build.NOW, subject, {world.file: data})
        for team, subject, data in zip("abc", ("Import", "Fork", "Memory"), contents, strict=True)
    ]
    history.build(git_dir, commits)
    log = git(git_dir, "log", "--reverse", "--format=%H", "main").split()
    world.git_dir, world.log = git_dir, dict(zip(("import", "fork", "memory"), log, strict=True))
    return world


async def proposed(real, undo_of, new=GOOD):
    change = build.field_change(path=IMAGE, old=BAD, new=new, undo_of=undo_of)
    finding = build.finding(cause=CauseClass.IMAGE_NAME_WRONG, change=change)
    formed = build.event(
        HypothesisFormed, run_id="r1", hypothesis=build.hypothesis(finding=finding)
    )
    await real.note("r1", [formed])
    return await real.note("r1", await real.validation().on_hypothesis_formed(formed))


async def test_the_exact_undo_of_a_guilty_commit_becomes_a_pull_request_with_its_bytes(real):
    drafted = (await proposed(real, real.log["fork"]))[-1]
    assert isinstance(drafted, PlanDrafted), drafted
    assert [edit.undo_of for edit in drafted.plan.edits] == [real.log["fork"]]
    opened = await real.write(drafted)
    assert isinstance(opened, PullRequestOpened)
    held = git(real.git_dir, "show", f"{opened.commit}:{real.file}").encode()
    assert held == manifest(GOOD, "256Mi"), "what came after the guilty commit stays"
    line = git(real.git_dir, "rev-list", f"main..{opened.head_branch}").split()
    assert line == [opened.commit]


@pytest.mark.parametrize("named", ["import", "memory", "nobody", "short", "none", "option"])
async def test_p9_a_commit_that_is_named_and_did_something_else_proves_no_undo(real, named):
    invented = {
        "nobody": "0" * 40,
        "short": real.log["fork"][:12],
        "none": "",
        "option": "--output=/tmp/x",
    }
    told = (await proposed(real, (real.log | invented)[named]))[0]
    assert isinstance(told, RunEscalated), told
    assert told.reason is EndReason.POLICY_DENIED
    assert git(real.git_dir, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]


async def test_p9_the_guilty_commit_proves_no_other_value_than_the_one_before_it(real):
    told = (await proposed(real, real.log["fork"], "evil.example/api:1"))[0]
    assert isinstance(told, RunEscalated), told
    assert told.reason is EndReason.POLICY_DENIED
