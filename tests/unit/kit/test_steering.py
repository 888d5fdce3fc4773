"""Who may steer a run by comments."""

import pytest

from tocsin_contracts import ForgeAuthor, ForgeKind
from tocsin_kit.steering import Steering, author_id

STEERING = Steering(["github:11", "github:12", "ana", "github:"], own=["github:12"])


def test_an_approver_is_known_by_forge_and_id():
    assert STEERING.allows(author_id(ForgeKind.GITHUB, ForgeAuthor(id="11", login="ana")))


@pytest.mark.parametrize(
    "author",
    ["github:12", "gitlab:11", "github:1", "github:111", "ana", "github:", "github:11 ", ""],
    ids=[
        "our own account",
        "another forge",
        "a part",
        "more",
        "a name",
        "no id",
        "a space",
        "none",
    ],
)
def test_everybody_else_steers_nothing(author):
    assert not STEERING.allows(author)


def test_a_login_proves_nothing():
    assert not STEERING.allows(author_id(ForgeKind.GITHUB, ForgeAuthor(id="99", login="ana")))
