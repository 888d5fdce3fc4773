"""The layout of checkpoints: names that read back, cells that hold, and no foreign types."""

import typing
from dataclasses import dataclass
from enum import Enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import BaseModel

import tocsin_contracts
from tocsin_contracts import EVENTS, ObjectRef, Severity
from tocsin_kit.checkpoint_cells import CONTRACTS, Codec, orphans, strict_serializer
from tocsin_kit.checkpoint_rows import (
    Address,
    ThreadKeys,
    newest_first,
    older,
    row_of,
    task_and_index,
    thread_of,
)

CODEC = Codec(strict_serializer())
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="{}\x1f\n\0"), max_size=12)
IDS = NAMES.filter(lambda text: text and not text.startswith(":"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@dataclass
class Foreign:
    """A type that no contract knows."""

    payload: str


class ForeignModel(BaseModel):
    """The same as a model."""

    payload: str


@given(IDS)
def test_a_thread_is_found_again_from_its_key(thread_id):
    assert thread_of(ThreadKeys.of(thread_id).rows) == thread_id


@given(IDS, IDS)
def test_two_threads_never_share_a_key(one, other):
    shared = set(ThreadKeys.of(one)) & set(ThreadKeys.of(other))
    assert bool(shared) == (one == other)


@given(IDS.filter(lambda text: ":" not in text), NAMES)
def test_the_slot_of_a_thread_is_that_of_its_run(run_id, rest):
    assert {
        key[key.index("{") : key.index("}") + 1] for key in ThreadKeys.of(f"{run_id}:{rest}")
    } == {f"{{{run_id}}}"}


@given(NAMES, NAMES, NAMES, st.integers(-4, 99))
def test_an_address_is_read_back_from_the_names_made_of_it(namespace, checkpoint_id, task, index):
    address = Address("t", namespace, checkpoint_id)
    write = address.write_field(task, index).encode()
    assert Address.of_field("t", address.field.encode()) == address
    assert Address.of(address.config) == address
    assert row_of(write) == address.field.encode()
    assert task_and_index(write) == (task, index)


@settings(max_examples=50)
@given(st.dictionaries(NAMES, VALUES, max_size=4), VALUES)
def test_a_checkpoint_comes_back_as_it_was_put(values, written):
    address = Address("t", "", "2")
    versions = {channel: f"{position}.v" for position, channel in enumerate(values)}
    checkpoint = {**empty_checkpoint(), "channel_values": values, "channel_versions": versions}
    parent = Address("t", "", "1").config
    row = CODEC.row(address, parent, checkpoint, {"step": 1})
    blobs = CODEC.blobs(address, checkpoint, versions)
    writes = CODEC.writes(address, [("log", written)], "task", "path")
    cells = [part for field, cell, _ in writes for part in (field.encode(), cell)]

    found = CODEC.checkpoint_tuple(address, row, [*blobs.values()], cells)
    assert found.checkpoint == checkpoint
    assert found.metadata == {"step": 1}
    assert (found.config, found.parent_config) == (address.config, parent)
    assert found.pending_writes == [("task", "log", written)]


def test_a_channel_without_a_value_has_no_blob_and_no_value():
    address = Address("t", "", "1")
    checkpoint = {**empty_checkpoint(), "channel_versions": {"gone": "1"}}
    assert CODEC.blobs(address, checkpoint, {"gone": "1"}) == {}
    row = CODEC.row(address, {"configurable": {"thread_id": "t"}}, checkpoint, {})
    found = CODEC.checkpoint_tuple(address, row, [None], [])
    assert found.checkpoint["channel_values"] == {}
    assert found.parent_config is None


def test_pending_writes_come_in_the_order_of_paths_tasks_and_positions():
    address = Address("t", "", "1")
    tasks = [("b", "1"), ("a", "2"), ("c", "1")]
    cells = []
    for task, path in tasks:
        for field, cell, _ in CODEC.writes(address, [("x", 0), ("y", 1)], task, path):
            cells[:0] = [field.encode(), cell]
    row = CODEC.row(address, {"configurable": {"thread_id": "t"}}, empty_checkpoint(), {})
    found = CODEC.checkpoint_tuple(address, row, [], cells)
    assert [(task, value) for task, _, value in found.pending_writes] == [
        ("b", 0),
        ("b", 1),
        ("c", 0),
        ("c", 1),
        ("a", 0),
        ("a", 1),
    ]


def test_only_errors_and_interrupts_replace_an_earlier_write():
    written = CODEC.writes(
        Address("t", "", "1"), [("log", 1), ("__error__", 2), ("__interrupt__", 3)], "task", ""
    )
    assert [replaces for *_, replaces in written] == [False, True, True]


def test_a_blob_goes_with_the_last_row_that_needs_it():
    rows = {b"1": b"a\nb\0cell", b"2": b"b\nc\0cell", b"3": b"\0cell"}
    assert orphans(rows, set()) == set()
    assert orphans(rows, {b"1"}) == {b"a"}
    assert orphans(rows, {b"1", b"2"}) == {b"a", b"b", b"c"}


def test_the_newest_of_each_namespace_is_not_old():
    addresses = [Address("t", ns, each) for ns in ("", "child") for each in ("1", "3", "2")]
    ordered = [each.checkpoint_id for each in newest_first(addresses)]
    assert ordered == ["3", "3", "2", "2", "1", "1"]
    old = {(each.namespace, each.checkpoint_id) for each in older(addresses)}
    assert old == {("", "1"), ("", "2"), ("child", "1"), ("child", "2")}


@pytest.mark.parametrize("value", [Foreign("x"), ForeignModel(payload="x")], ids=["class", "model"])
def test_a_foreign_type_comes_back_as_plain_data(value):
    assert revived(strict_serializer(), value) == {"payload": "x"}


def test_a_type_that_was_named_comes_back_as_itself():
    assert revived(strict_serializer(Foreign), Foreign("x")) == Foreign("x")


@pytest.mark.parametrize("value", [Severity.CRITICAL, ObjectRef(kind="Pod", name="api")])
def test_a_contract_comes_back_as_itself(value):
    found = revived(strict_serializer(), [value])[0]
    assert (type(found), found) == (type(value), value)


def test_every_type_that_an_event_holds_is_revived():
    reachable, waiting = set(), [*EVENTS]
    while waiting:
        found = waiting.pop()
        waiting.extend(typing.get_args(found))
        known = found in reachable or not isinstance(found, type)
        if not known and issubclass(found, BaseModel | Enum):
            reachable.add(found)
            fields = getattr(found, "model_fields", {})
            waiting.extend(field.annotation for field in fields.values())
    assert len(reachable) > len(EVENTS)
    assert reachable <= set(CONTRACTS)
    assert all(each.__module__.startswith(tocsin_contracts.__name__) for each in CONTRACTS)


def revived(serializer: JsonPlusSerializer, value: object) -> object:
    return serializer.loads_typed(serializer.dumps_typed(value))
