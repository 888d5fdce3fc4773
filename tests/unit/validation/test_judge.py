"""Which failure decides, and what is shown although it failed."""

from pathlib import Path

from tocsin_cluster.clusters import OneCluster, UnseenCluster
from tocsin_contracts import (
    CheckResult,
    CheckSeverity,
    CheckVerdict,
    EndReason,
    FailureCode,
    Risk,
    RunId,
)
from tocsin_gitops.config import Repository
from tocsin_gitops.policy import WritePolicy
from tocsin_testing import build
from tocsin_testing.repositories import FakeRepositories
from tocsin_validation.judge import Judge
from tocsin_validation.ports import Consequence, Proposed
from tocsin_validation.surroundings.surveyor import Means, Pinned, Surveyor


class Opinion:
    """A check with one answer."""

    severity = CheckSeverity.MAJOR
    needs = "nothing"
    reason = EndReason.CHECKS_FAILED
    code = FailureCode.CONFLICT
    action = "ask again"

    def __init__(self, name, verdict, consequence=Consequence.ESCALATE):
        self.name, self._verdict, self.consequence = name, verdict, consequence

    def run(self, change) -> CheckResult:
        assert change.around.at is not None
        return CheckResult(check=self.name, verdict=self._verdict, detail="so it is")


CHANGE = Proposed(
    alert=build.alert(),
    hypothesis=build.hypothesis(),
    target=build.target(),
    edits=(build.edit(),),
    before={},
    after={},
    modes={},
    policy=WritePolicy(),
    issue_key="k",
    head_branch="tocsin/x",
)
PASS, FAIL, UNKNOWN = CheckVerdict.PASS, CheckVerdict.FAIL, CheckVerdict.UNKNOWN


async def judge(*opinions):
    surveyor = Surveyor(
        FakeRepositories(), OneCluster(UnseenCluster("nobody looks")), Means(kubectl="")
    )
    repository = Repository(name="shop/x", git_dir=Path("none.git"), paths=("**",))
    pinned = Pinned(repository, "1" * 40, {})
    return await Judge(opinions, surveyor).judge(RunId(build.RUN), CHANGE, pinned)


async def test_the_first_failure_decides_and_all_answers_are_shown():
    first = Opinion("b", FAIL, Consequence.NO_CHANGE)
    judged, failure = await judge(Opinion("a", PASS), first, Opinion("c", FAIL))
    assert failure.check is first
    assert [one.check for one in judged.checks] == ["a", "b", "c"]


async def test_what_is_to_be_taken_with_care_ends_nothing():
    judged, failure = await judge(Opinion("a", FAIL, Consequence.WITH_CARE), Opinion("b", PASS))
    assert failure is None
    assert judged.risk is Risk.HIGH
    assert judged.reasons == ("so it is",)


async def test_what_cannot_be_told_ends_nothing_and_counts_as_no_pass():
    judged, failure = await judge(Opinion("a", UNKNOWN))
    assert failure is None
    assert judged.risk is Risk.MEDIUM
    (result,) = judged.checks
    assert (result.code, result.action) == (FailureCode.CONFLICT, "ask again")
