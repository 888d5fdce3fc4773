"""Rules of approvals that an operator cannot have meant stop action at its start."""

import pytest

from tocsin_action.asking import TIERS
from tocsin_action.settings import Settings
from tocsin_contracts import Risk
from tocsin_kit.quorum import Quorum


def test_a_tier_that_is_not_named_keeps_its_quorum():
    quorum = Settings(quorum={"medium": {"people": 2}}).quorum
    assert quorum == {**TIERS, Risk.MEDIUM: Quorum(people=2)}


@pytest.mark.parametrize("people", [{"people": 0}, {"persons": 2}, {"alone": "console"}])
def test_a_quorum_that_cannot_be_right_is_named(people):
    with pytest.raises(ValueError, match="quorum"):
        Settings(quorum={"high": people})


@pytest.mark.parametrize(
    "groups", [{"": []}, {"payments": [[]]}, {"payments": [["ana"], ["eve"]]}, {"a": ["ana"]}]
)
def test_groups_of_nobody_or_of_strangers_are_named(groups):
    with pytest.raises(ValueError, match=r"(?i)approver_groups"):
        Settings(approvers=("ana", "bo"), approver_groups=groups)


def test_p3_a_team_whose_groups_never_reach_the_quorum_is_refused():
    two = {"medium": {"people": 2}}
    people = ("ana", "bo")
    with pytest.raises(ValueError, match="only 1 may be asked"):
        Settings(approvers=people, quorum=two, approver_groups={"payments": [["ana"]]})
    Settings(approvers=people, quorum=two, approver_groups={"payments": [["ana"], ["bo"]]})


def test_p3_a_quorum_that_nobody_could_ever_reach_is_refused():
    with pytest.raises(
        ValueError, match=r"asks for 2 people at high risk, and only 1 may be asked"
    ):
        Settings(approvers=("ana",), quorum={"high": {"people": 2}})
    Settings(approvers=("ana",))


@pytest.mark.parametrize(
    "named", [{"break_glass": ("ana", "eve")}, {"owners": {"@shop/apps": ("ana", "eve")}}]
)
def test_p3_who_is_no_approver_breaks_no_glass_and_owns_nothing(named):
    with pytest.raises(ValueError, match="TOCSIN_APPROVERS has to name eve too"):
        Settings(approvers=("ana", "bo"), **named)
    Settings(approvers=("ana", "bo", "eve"), **named)


def test_p3_nobody_breaks_the_glass_unless_somebody_is_named():
    assert Settings(approvers=("ana",)).break_glass == ()
