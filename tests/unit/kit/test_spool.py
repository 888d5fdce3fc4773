"""What the spool took is there after a kill, in order, within its bounds."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from tocsin_kit import spool as kit
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.spool import Spool


def opened(folder, most_bytes=10**9, most_records=10**6):
    return Spool(folder, most_bytes=most_bytes, most_records=most_records)


async def drained(spool, at_once=7):
    found = []
    while records := await spool.peek(at_once):
        found += records
        await spool.take(len(records))
    return found


def segments(folder):
    return sorted(folder.glob("*.spool"))


@settings(max_examples=25, deadline=None)
@given(batches=st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=4), max_size=8))
async def test_what_goes_in_comes_out_in_order_also_after_a_restart(batches, tmp_path_factory):
    folder = tmp_path_factory.mktemp("spool")
    first = opened(folder)
    for batch in batches:
        await first.append(batch)
    records = [record for batch in batches for record in batch]
    assert opened(folder).waiting == first.waiting == len(records)
    assert await drained(opened(folder)) == records


async def test_what_was_taken_is_gone_and_gives_its_room_back(tmp_path):
    spool = opened(tmp_path, most_records=2)
    await spool.append([b"a", b"b"])
    assert not spool.has_room
    with pytest.raises(TransientError, match="full"):
        await spool.append([b"c"])
    assert await drained(spool) == [b"a", b"b"]
    assert (spool.waiting, spool.has_room, segments(tmp_path)) == (0, True, [])
    await spool.append([b"c"])
    assert await drained(opened(tmp_path)) == [b"c"]


async def test_it_never_holds_more_bytes_than_it_may(tmp_path):
    spool = opened(tmp_path, most_bytes=100)
    await spool.append([b"x" * 80])
    with pytest.raises(TransientError, match="full"):
        await spool.append([b"x" * 80])
    assert sum(file.stat().st_size for file in segments(tmp_path)) <= 100


async def test_a_batch_that_does_not_fit_is_refused_whole(tmp_path):
    spool = opened(tmp_path, most_records=2)
    with pytest.raises(TransientError, match="full"):
        await spool.append([b"a", b"b", b"c"])
    assert await drained(spool) == []


async def test_full_segments_are_given_back_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(kit, "SEGMENT_BYTES", 50)
    spool = opened(tmp_path)
    for number in range(10):
        await spool.append([b"%d" % number * 30])
    before = len(segments(tmp_path))
    assert before == 5
    await spool.take(2)
    assert len(segments(tmp_path)) == before - 1
    assert len(await drained(spool)) == 8


@pytest.mark.parametrize("lost", range(1, 12))
async def test_a_record_that_a_kill_tore_is_dropped_and_no_other(tmp_path, lost):
    await opened(tmp_path).append([b"first", b"torn"])
    (segment,) = segments(tmp_path)
    os.truncate(segment, segment.stat().st_size - lost)
    spool = opened(tmp_path)
    await spool.append([b"after the restart"])
    assert spool.waiting == 2
    assert await drained(spool) == [b"first", b"after the restart"]


@settings(max_examples=60, deadline=None)
@given(bit=st.integers(0, 8 * 3 * (8 + 6) - 1))
async def test_a_flipped_bit_costs_one_record_which_is_kept_aside(bit, tmp_path_factory):
    folder = tmp_path_factory.mktemp("spool")
    records = [b"first!", b"second", b"third!"]
    await opened(folder).append(records)
    (segment,) = segments(folder)
    data = bytearray(segment.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    segment.write_bytes(data)
    spool = opened(folder)
    assert spool.waiting == 2
    hit = bit // (8 * 14)
    assert await drained(spool) == [one for one in records if one != records[hit]]
    (kept,) = folder.glob("*.damaged")
    assert (spool.waiting, segments(folder), kept.read_bytes()) == (0, [], bytes(data))


async def test_what_rots_while_it_waits_is_not_handed_on_either(tmp_path):
    spool = opened(tmp_path)
    await spool.append([b"first", b"rotten", b"last"])
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes().replace(b"rotten", b"Rotten"))
    assert await drained(spool) == [b"first", b"last"]
    assert spool.waiting == 0
    assert [b"Rotten" in kept.read_bytes() for kept in tmp_path.glob("*.damaged")] == [True]


async def test_what_is_kept_aside_is_never_written_over(tmp_path):
    for text in (b"one", b"two"):
        await opened(tmp_path).append([text])
        (segment,) = segments(tmp_path)
        segment.write_bytes(segment.read_bytes()[:-1])
        assert await drained(opened(tmp_path)) == []
    assert len(list(tmp_path.glob("*.damaged"))) == 2


async def torn(folder, number):
    """Leave a copy of a damaged segment of 100 bytes behind; return its name."""
    await opened(folder).append([b"%02d" % number + b"x" * 91])
    (segment,) = segments(folder)
    segment.write_bytes(segment.read_bytes()[:-1])
    assert await drained(opened(folder)) == []
    return segment.with_suffix(".damaged").name


def kept(folder):
    return sorted(file.name for file in folder.glob("*.damaged"))


def dropped():
    return REGISTRY.get_sample_value("tocsin_spool_damaged_dropped_total")


async def test_copies_of_damaged_segments_count_in_the_bound_and_the_oldest_makes_room(
    tmp_path,
):
    names, before = [await torn(tmp_path, number) for number in range(3)], dropped()
    spool = opened(tmp_path, most_bytes=350)
    await spool.append([b"a" * 42])
    assert kept(tmp_path) == names
    await spool.append([b"b" * 42])
    assert (kept(tmp_path), dropped()) == (names[1:], before + 1)
    await spool.append([b"c" * 192])
    assert (kept(tmp_path), dropped()) == ([], before + 3)
    with pytest.raises(TransientError, match="full"):
        await spool.append([b"d" * 100])
    assert await drained(spool) == [b"a" * 42, b"b" * 42, b"c" * 192]


async def test_damage_of_its_own_run_counts_too(tmp_path):
    spool = opened(tmp_path, most_bytes=150)
    await spool.append([b"x" * 92])
    (segment,) = segments(tmp_path)
    segment.write_bytes(b"!" + segment.read_bytes()[1:])
    assert await drained(spool) == []
    assert (len(kept(tmp_path)), spool.has_room) == (1, True)
    await spool.append([b"y" * 92])
    assert kept(tmp_path) == []
    assert await drained(spool) == [b"y" * 92]


async def test_what_is_readable_of_a_damaged_segment_is_never_dropped_for_room(tmp_path):
    await opened(tmp_path).append([b"first", b"torn"])
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes()[:-1])
    spool = opened(tmp_path, most_bytes=segment.stat().st_size + 10)
    with pytest.raises(TransientError, match="full"):
        await spool.append([b"more"])
    assert await drained(spool) == [b"first"]


async def test_copies_over_a_bound_that_was_lowered_are_dropped_at_the_start(tmp_path):
    names = [await torn(tmp_path, number) for number in range(3)]
    opened(tmp_path, most_bytes=250)
    assert kept(tmp_path) == names[1:]


async def test_a_copy_that_a_person_took_away_is_no_loss(tmp_path):
    name, before = await torn(tmp_path, 1), dropped()
    spool = opened(tmp_path, most_bytes=150)
    (tmp_path / name).unlink()
    await spool.append([b"x" * 92])
    assert dropped() == before


async def test_zeros_of_a_disk_that_lost_power_are_no_records(tmp_path):
    await opened(tmp_path).append([b"first"])
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes() + bytes(64))
    assert await drained(opened(tmp_path)) == [b"first"]


async def test_files_of_others_are_left_alone(tmp_path):
    for name in ("lost+found", "notes.spool", "x.damaged"):
        (tmp_path / name).touch()
    spool = opened(tmp_path)
    await spool.append([b"first"])
    assert await drained(spool) == [b"first"]
    assert {file.name for file in tmp_path.iterdir()} == {"lost+found", "notes.spool", "x.damaged"}


@pytest.mark.parametrize("call", [lambda spool: spool.peek(1), lambda spool: spool.take(1)])
async def test_a_disk_that_fails_is_an_outage_not_the_end(tmp_path, monkeypatch, call):
    spool = opened(tmp_path)
    await spool.append([b"first"])

    def failing(path, **_):
        raise OSError("input/output error")

    for method in ("read_bytes", "unlink"):
        monkeypatch.setattr(kit.Path, method, failing)
    with pytest.raises(TransientError, match="input/output error"):
        await call(spool)


async def test_a_write_that_fails_is_told_and_harms_nothing_else(tmp_path, monkeypatch):
    spool = opened(tmp_path)
    await spool.append([b"before"])

    def full_disk(file, data):
        os.write(file, bytes(data)[:3])
        raise OSError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(kit, "_write_all", full_disk)
        with pytest.raises(TransientError, match="no space left"):
            await spool.append([b"lost"])
    await spool.append([b"after"])
    assert await drained(opened(tmp_path)) == [b"before", b"after"]


async def test_a_disk_that_is_full_is_left_as_it_was_however_often_it_is_tried(
    tmp_path, monkeypatch
):
    spool = opened(tmp_path)
    await spool.append([b"before"])
    (segment,) = segments(tmp_path)
    size = segment.stat().st_size

    def full_disk(file, data):
        os.write(file, bytes(data)[:3])
        raise OSError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(kit, "_write_all", full_disk)
        for _ in range(3):
            with pytest.raises(TransientError, match="no space left"):
                await spool.append([b"lost"])
    assert (segments(tmp_path), segment.stat().st_size) == ([segment], size)
    assert await drained(opened(tmp_path)) == [b"before"]
    assert list(tmp_path.iterdir()) == []


async def test_where_half_a_record_cannot_be_undone_it_is_the_last_of_its_segment(
    tmp_path, monkeypatch
):
    spool = opened(tmp_path)
    await spool.append([b"before"])

    def broken_disk(file, data):
        os.write(file, bytes(data)[:3])
        raise OSError("input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(kit, "_write_all", broken_disk)
        broken.setattr(kit.os, "ftruncate", broken_disk_size)
        with pytest.raises(TransientError):
            await spool.append([b"lost"])
    await spool.append([b"after"])
    assert await drained(opened(tmp_path)) == [b"before", b"after"]


def broken_disk_size(file, size):
    raise OSError("input/output error")


def test_a_folder_that_cannot_be_made_stops_the_start(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(PermanentError, match="cannot be used"):
        opened(tmp_path / "file" / "spool")


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from tocsin_kit.spool import Spool
async def main():
    spool = Spool(Path(sys.argv[1]), most_bytes=10**9, most_records=10**6)
    for number in range(10**6):
        await spool.append([b"%d" % number])
        os.write(1, b"%d\\n" % number)
        if number == 200:
            os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""


def appended_until_killed(folder):
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(folder)], capture_output=True, timeout=60, check=False
    )
    return killed.stdout.split()


async def test_what_was_acknowledged_before_a_kill_is_there(tmp_path):
    acknowledged = appended_until_killed(tmp_path)
    assert len(acknowledged) == 201
    assert (await drained(opened(tmp_path)))[: len(acknowledged)] == acknowledged
