"""Bodies that were read before are remembered within bounds, whatever is sent."""

import tracemalloc
from datetime import timedelta

import pytest

from tocsin_ingest.alerts import Identity, alert_of
from tocsin_ingest.edge.memo import LARGEST, MOST_BYTES, Memo
from tocsin_ingest.ports import Reading
from tocsin_testing.fakes import NOW

IDENTITY = Identity(source="alertmanager")


def bodies(count, alerts):
    for number in range(count):
        told = [
            alert_of(Reading(title="A", labels={"a": f"{number}.{one}"}), IDENTITY)
            for one in range(alerts)
        ]
        yield b'{"n": %d}' % number, told


@pytest.mark.parametrize(("count", "alerts"), [(2_500, 0), (7, 60)])
def test_what_is_remembered_never_takes_more_memory_than_it_may(count, alerts):
    memo = Memo(most_bytes=MOST_BYTES // 8)
    tracemalloc.start()
    try:
        for body, told in bodies(count, alerts):
            memo.put(memo.key("alertmanager/", {}, body), len(body), told, NOW)
        del told
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < MOST_BYTES // 8


def test_the_latest_bodies_are_those_that_are_remembered():
    memo = Memo(most_bytes=10 * 1024)
    keys = []
    for body, told in bodies(4, 1):
        keys.append(memo.key("alertmanager/", {}, body))
        memo.put(keys[-1], len(body), told, NOW)
    assert [memo.get(key) is not None for key in keys] == [False, False, True, True]


def test_what_one_sender_sent_says_nothing_of_another():
    memo = Memo()
    memo.put(memo.key("alertmanager/eu", {}, b"{}"), 2, [], NOW)
    assert memo.get(memo.key("alertmanager/us", {}, b"{}")) is None
    assert memo.get(memo.key("alertmanager/eu", {"content-encoding": "gzip"}, b"{}")) is None
    assert memo.get(memo.key("alertmanager/eu", {}, b"{}")) is not None


@pytest.mark.parametrize(("minutes", "known"), [(4, False), (-4, True)])
def test_an_alert_that_ends_later_is_read_anew(minutes, known):
    memo, ends = Memo(), NOW + timedelta(minutes=minutes)
    told = [alert_of(Reading(title="A", labels={"a": "b"}, ends_at=ends), IDENTITY)]
    key = memo.key("alertmanager/", {}, b"{}")
    memo.put(key, 2, told, NOW)
    assert (memo.get(key) is not None) is known


def test_a_huge_body_takes_no_room():
    memo = Memo()
    key = memo.key("alertmanager/", {}, b"")
    memo.put(key, LARGEST + 1, [], NOW)
    assert memo.get(key) is None
