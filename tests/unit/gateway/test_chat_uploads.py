"""Files that people hand over: taken for what their bytes are, and no archive is a trap."""

import io
import stat
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts.chat import MOST_ATTACHED, AttachmentKind
from tocsin_gateway.chat import uploads
from tocsin_gateway.chat.uploads import BadFileError, taken

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


def archive(*entries, method=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as opened:
        for name, data in entries:
            opened.writestr(name, data)
    return packed.getvalue()


def linked():
    entry = zipfile.ZipInfo("logs")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return archive((entry, "/etc/passwd"))


def encrypted():
    data = bytearray(archive(("a.txt", "words")))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def misnamed():
    return archive(("\u00e9.txt", "words")).replace("\u00e9".encode(), b"\xff\xfe")


def crowded(entries):
    """An archive of one file, whose directory names it again and again."""
    packed = archive(("a", "words"))
    at, end = packed.index(b"PK\x01\x02"), packed.index(b"PK\x05\x06")
    return packed[:at] + packed[at:end] * entries + packed[end:]


KINDS = {
    "a text": ("x.png", b"just words", AttachmentKind.TEXT, "text/plain"),
    "a png": ("x.txt", PNG, AttachmentKind.IMAGE, "image/png"),
    "a jpeg": ("x", b"\xff\xd8\xff\xe0" + b"0" * 20, AttachmentKind.IMAGE, "image/jpeg"),
    "a webp": ("x", b"RIFF\0\0\0\0WEBPVP8 ", AttachmentKind.IMAGE, "image/webp"),
}


@pytest.mark.parametrize(("name", "data", "kind", "media_type"), KINDS.values(), ids=KINDS)
def test_a_file_is_what_its_bytes_are_and_not_what_it_is_called(name, data, kind, media_type):
    ((about, kept),) = taken(name, data)
    assert (about.kind, about.media_type, about.size, kept) == (kind, media_type, len(data), data)


def test_an_archive_is_unpacked_into_its_files():
    found = taken("logs.zip", archive(("logs/", ""), ("logs/a.log", "one"), ("b.png", PNG)))
    assert [about.name for about, _ in found] == ["logs/a.log", "b.png"]
    assert len({about.id for about, _ in found}) == 2


TRAPS = {
    "a path that leads out": (archive(("../../x", "words")), "leads out"),
    "an absolute path": (archive(("/etc/cron.d/x", "words")), "leads out"),
    "a path of another system": (archive(("..\\x", "words")), "leads out"),
    "a drive": (archive(("C:/x", "words")), "leads out"),
    "a link": (linked(), "is a link"),
    "a password": (encrypted(), "encrypted"),
    "an odd packing": (archive(("a", "words"), method=zipfile.ZIP_BZIP2), "odd way"),
    "an archive inside": (archive(("a.zip", archive(("b", "words")))), "in an archive"),
    "too many files": (archive(*((f"{n}.txt", "x") for n in range(MOST_ATTACHED + 1))), "more"),
    "a bomb": (archive(("a.txt", b" " * 2_000_000 + b"x")), "times its size"),
    "a larger bomb": (archive(("a.txt", b" " * (uploads.MOST_BYTES + 9))), "unpacked"),
    "too many entries": (crowded(uploads.MOST_ENTRIES + 1), "more than 1000 entries"),
    "a name of odd bytes": (misnamed(), "cannot be read"),
    "half of one": (archive(("a.txt", "words"))[:-30], "cannot be read"),
    "a program": (b"\x7fELF\x02\x01\x01\xff\xfe", "no UTF-8"),
    "nothing": (b" \n", "is empty"),
    "a text with zeros": (b"a\0b", "no text"),
    "a large text": (b"x" * (uploads.MOST_TEXT + 1), "is over"),
    "a large image": (PNG + b"0" * uploads.MOST_IMAGE, "is over"),
    "a program in an archive": (archive(("a", b"\x7fELF\xff\xfe")), "no UTF-8"),
}


@pytest.mark.parametrize(("data", "why"), TRAPS.values(), ids=TRAPS)
def test_what_is_not_taken_says_why(data, why):
    with pytest.raises(BadFileError, match=why):
        taken("x", data)


def test_a_name_loses_what_nobody_can_see():
    ((about, _),) = taken("a\u202etxt\n.exe" + "x" * 400, b"words")
    assert about.name.startswith("atxt .exe")
    assert len(about.name) == 200


WHOLE = archive(("a.txt", "words"), ("b/\u00e9.txt", "more words"))


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(4, len(WHOLE) - 1), st.integers(0, 255)), max_size=6))
def test_whatever_bytes_of_an_archive_are_wrong_it_is_taken_or_refused(wrong):
    data = bytearray(WHOLE)
    for at, byte in wrong:
        data[at] = byte
    try:
        found = taken("x", bytes(data))
    except BadFileError:
        return
    assert sum(about.size for about, _ in found) <= uploads.MOST_BYTES


@given(st.binary(max_size=400), st.text(max_size=40))
def test_whatever_is_handed_over_is_taken_or_refused(data, name):
    for given_data in (data, b"PK\x03\x04" + data):
        try:
            found = taken(name, given_data)
        except BadFileError:
            continue
        assert [len(kept) for _, kept in found] == [about.size for about, _ in found]
