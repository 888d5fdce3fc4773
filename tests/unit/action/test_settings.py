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


def test_p3_a_quorum_that_nobody_could_ever_reach_is_refused():
    with pytest.raises(ValueError, match=r"asks for 2 people at high risk, and .* names 1"):
        Settings(approvers=("ana",), quorum={"high": {"people": 2}})
    Settings(approvers=("ana",))
