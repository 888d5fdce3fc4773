"""Every check of validation says yes to something and no to something, and never guesses."""

from dataclasses import dataclass, replace

import pytest

from tocsin_contracts import CheckVerdict, EditOp, EvidenceKind
from tocsin_gitops import editing
from tocsin_gitops.policy import RepositoryRule, WritePolicy
from tocsin_gitops.pulls import PullRequest, PullState
from tocsin_testing import build
from tocsin_validation import checks
from tocsin_validation.ports import Proposed

CHECKS = {check.name: check for check in checks.load()}
EDIT = build.edit()
MANIFEST = b"""\
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
"""


def change(manifest=MANIFEST, edits=(EDIT,), **parts) -> Proposed:
    """A change that every check agrees to, of which a sample changes what its check is about."""
    before = {EDIT.file: manifest}
    sound = Proposed(
        alert=build.alert(),
        hypothesis=build.hypothesis(),
        target=build.target(),
        edits=edits,
        before=before,
        after=editing.apply({EDIT.file: MANIFEST}, edits),
        modes=dict.fromkeys(before, "100644"),
        policy=WritePolicy(
            repositories=(RepositoryRule(name=build.target().repo, paths=("apps/**",)),)
        ),
        issue_key=build.plan().issue_key,
        head_branch=build.plan().head_branch,
        branch_at=None,
        pull=None,
    )
    return replace(sound, **parts)


def pull(state: PullState) -> PullRequest:
    plan = build.plan()
    return PullRequest(
        number=7,
        title=plan.title,
        body=plan.body,
        head_branch=plan.head_branch,
        base_branch="main",
        commit="c" * 40,
        state=state,
        opened_at=build.NOW,
        url="local://shop/platform-gitops/7",
    )


@dataclass(frozen=True, slots=True)
class Samples:
    """What one check says yes to, and all that it says no to."""

    passing: Proposed
    failing: tuple[Proposed, ...]


UNSEEN = build.hypothesis(finding=build.finding(evidence=("e1", "e7")))
UNCITED = build.hypothesis(finding=build.finding(evidence=()))
UNANSWERED = build.hypothesis(evidence=(build.evidence(kind=EvidenceKind.MISSING),))
TOLERATED = build.edit(
    op=EditOp.INSERT,
    path=("spec", "template", "spec", "tolerations"),
    old=None,
    new=None,
    new_tree=[{"key": "gpu", "operator": "Exists"}],
)


REQUESTED = build.edit(op=EditOp.INSERT, path=(*EDIT.path[:-2], "requests", "memory"), old=None)


def requesting(amount: str) -> Proposed:
    return change(edits=(REQUESTED.model_copy(update={"new": amount}),))


def showing(excerpt: str, kind=EvidenceKind.OBJECT) -> Proposed:
    seen = build.hypothesis(evidence=(build.evidence(kind=kind, excerpt=excerpt),))
    return change(edits=(TOLERATED,), hypothesis=seen)


SAMPLES = {
    "evidence-supports-claim": Samples(
        change(), tuple(change(hypothesis=wrong) for wrong in (UNSEEN, UNCITED, UNANSWERED))
    ),
    "value-is-current": Samples(change(), (change(MANIFEST.replace(b"128Mi", b"192Mi")),)),
    "scope-is-exact": Samples(
        change(), (change(MANIFEST.replace(b"spec:", b"spec: # it", 1)), change(after={}))
    ),
    "requests-within-limits": Samples(
        requesting("0.125Gi"), (requesting("129Mi"), requesting("1Gi"))
    ),
    "new-is-shown": Samples(
        showing("taints: gpu NoSchedule"),
        (showing("none"), showing("my-gpu"), showing("gpu", EvidenceKind.LOG)),
    ),
    "policy-allows": Samples(
        change(),
        (
            change(policy=WritePolicy()),
            change(edits=(build.edit(new="1280Mi"),)),
            change(modes={EDIT.file: "120000"}),
        ),
    ),
    "no-open-pull-request": Samples(
        change(pull=pull(PullState.CLOSED)), (change(pull=pull(PullState.OPEN)),)
    ),
    "branch-is-free": Samples(
        change(pull=pull(PullState.OPEN), branch_at="c" * 40),
        (
            change(pull=pull(PullState.CLOSED)),
            change(pull=pull(PullState.MERGED)),
            change(branch_at="c" * 40),
            change(pull=pull(PullState.OPEN), branch_at="d" * 40),
        ),
    ),
}
"""One entry per check; a check that is not here fails by its name."""


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_agrees_to_a_sound_change(name):
    result = CHECKS[name].run(SAMPLES[name].passing)
    assert (result.check, result.verdict) == (name, CheckVerdict.PASS), result.detail
    assert result.detail


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_says_no_and_why(name):
    for wrong in SAMPLES[name].failing:
        result = CHECKS[name].run(wrong)
        assert (result.check, result.verdict) == (name, CheckVerdict.FAIL), result.detail
        assert result.detail


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_agrees_to_a_change_that_all_others_agree_to(name):
    assert CHECKS[name].run(change()).verdict is CheckVerdict.PASS


def test_no_sample_belongs_to_a_check_that_is_gone():
    assert SAMPLES.keys() <= CHECKS.keys()


def test_what_cannot_be_told_is_unknown_and_not_a_pass():
    text = build.edit(
        file="remediations/a.md", op=EditOp.CREATE, document=None, path=(), old=None, new="# a\n"
    )
    proposal = change(edits=(text,), before={}, modes={})
    assert CHECKS["value-is-current"].run(proposal).verdict is CheckVerdict.UNKNOWN
