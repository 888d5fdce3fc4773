"""The audit's chain: whatever is changed, taken out or put in, it is named at its first place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_kit.audit import AUDITED
from tocsin_kit.audit_chain import Fault, Key, broken, linked
from tocsin_kit.errors import PermanentError
from tocsin_testing import build
from tocsin_testing.event_fields import EVENT_FIELDS

KEY = Key(b"k" * 32)
OTHER = Key(b"o" * 32)


def chain(size=5, key=KEY):
    entries = []
    for number in range(size):
        decision = build.decision(by=f"person-{number}")
        event = build.approval_granted(id=f"{number:032x}", decision=decision)
        entries.append(linked(entries[-1] if entries else None, number * 3 + 1, event, key))
    return entries


def test_a_chain_that_nobody_touched_holds():
    assert broken(chain(), KEY) is None
    assert broken(chain()) is None
    assert broken([], KEY) is None


CHANGES = {
    "body": lambda e: e.model_copy(update={"body": e.body.replace("person", "nobody")}),
    "topic": lambda e: e.model_copy(update={"topic": "approval.denied.v1"}),
    "event": lambda e: e.model_copy(update={"event": "f" * 32}),
    "fact": lambda e: e.model_copy(update={"fact": e.fact + 1}),
    "hash": lambda e: e.model_copy(update={"hash": "0" * 64}),
    "seal": lambda e: e.model_copy(update={"seal": ""}),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("place", range(5))
def test_p6_an_entry_that_was_changed_is_named(what, place):
    entries = chain()
    entries[place] = CHANGES[what](entries[place])
    found = broken(entries, KEY)
    fault = Fault.UNSEALED if what == "seal" else Fault.CHANGED
    assert (found.number, found.fault) == (place + 1, fault)


@given(st.integers(0, 3))
def test_p6_an_entry_that_was_taken_out_leaves_a_gap(place):
    entries = chain()
    del entries[place]
    found = broken(entries, KEY)
    assert (found.number, found.fault) == (place + 2, Fault.GAP)


@settings(max_examples=20)
@given(st.integers(0, 3))
def test_p6_who_makes_the_rest_anew_without_the_key_is_found_by_the_seals(place):
    entries = chain()[: place + 1]
    forged = build.approval_granted(id="f" * 32, decision=build.decision(by="mallory"))
    forged_entry = linked(entries[-1], 99, forged, OTHER)
    assert broken([*entries, forged_entry]) is None
    found = broken([*entries, forged_entry], KEY)
    assert (found.number, found.fault) == (place + 2, Fault.UNSEALED)


def test_an_entry_that_was_hashed_anew_does_not_fit_the_next():
    entries = chain()
    changed = CHANGES["body"](entries[2])
    digest = changed.digest()
    entries[2] = changed.model_copy(update={"hash": digest, "seal": KEY.seal(digest)})
    found = broken(entries, KEY)
    assert (found.number, found.fault) == (4, Fault.CUT_OFF)


def test_a_key_that_can_be_guessed_or_read_by_nobody_is_refused(tmp_path):
    short = tmp_path / "short"
    short.write_bytes(b"too short")
    for path in (short, tmp_path / "missing"):
        with pytest.raises(PermanentError, match="key"):
            Key.read(str(path))
    assert Key.read("") is None


@pytest.mark.parametrize("kind", AUDITED, ids=lambda kind: kind.topic)
def test_every_audited_fact_can_be_linked(kind):
    event = build.event(kind, id="a" * 32, **EVENT_FIELDS[kind]("r1"))
    assert broken([linked(None, 1, event, KEY)], KEY) is None
