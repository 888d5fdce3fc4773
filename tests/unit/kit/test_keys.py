"""Key names: what one script touches lies in one slot, and no label can break out of a name."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tocsin_kit import keys


def slot(key):
    return re.search(r"\{(.*?)\}", key)[1]


def test_every_key_of_a_run_lies_in_its_slot():
    names = [
        keys.run("r1"),
        keys.lease("r1", "rca"),
        keys.approval("r1", "f" * 64),
        keys.notice("r1"),
    ]
    assert {slot(name) for name in names} == {"r1"}
    assert len(set(names)) == len(names)


@given(st.text(), st.text())
def test_an_incident_of_any_labels_has_a_plain_key_of_its_own(one, other):
    assert re.fullmatch(r"tocsin:incident:\{[0-9a-f]{32}\}", keys.incident(one))
    assert (keys.incident(one) == keys.incident(other)) is (one == other)
