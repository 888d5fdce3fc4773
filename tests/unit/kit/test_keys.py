"""Key names: what one script touches lies in one slot, and no label can break out of a name."""

import contextvars
import inspect
import re
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from tocsin_kit import keys

NO_KEYS = ("prefix", "use_prefix")


def slot(key):
    return re.search(r"\{(.*?)\}", key)[1]


def every_key():
    made = []
    for name, function in inspect.getmembers(keys, inspect.isfunction):
        if function.__module__ == keys.__name__ and name[0] != "_" and name not in NO_KEYS:
            kinds = [one.annotation for one in inspect.signature(function).parameters.values()]
            given = [{int: 1, date: date(2026, 1, 1)}.get(kind, "a:b") for kind in kinds]
            made.append(function(*given))
    return made


def test_no_key_lacks_the_prefix_of_its_deployment():
    def other():
        keys.use_prefix("other")
        return every_key()

    ours, theirs = every_key(), contextvars.copy_context().run(other)
    above = ("a:b:alerts",)  # a name that is built on the key of its record
    assert [key for key in ours if not key.startswith("tocsin:") and key not in above] == []
    assert [key for key in theirs if not key.startswith("other:") and key not in above] == []
    assert len(ours) > 20
    assert set(ours) & set(theirs) <= {*above}


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
