"""What people hand over, looked at before it is kept: by its bytes, never by its name; pure."""

import hashlib
import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from tocsin_contracts.chat import MOST_ATTACHED, Attachment, AttachmentKind
from tocsin_kit.errors import PermanentError
from tocsin_kit.untrusted import line

MOST_BYTES = 8 * 1024 * 1024
"""Of all files of one upload, unpacked."""

MOST_TEXT, MOST_IMAGE = 1024 * 1024, 5 * 1024 * 1024
MOST_RATIO = 100
LONGEST_NAME = 200

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", b"", "image/png"),
    (b"\xff\xd8\xff", b"", "image/jpeg"),
    (b"GIF8", b"", "image/gif"),
    (b"RIFF", b"WEBP", "image/webp"),
)
_BINARY = b"\x00"
_ENTRY, MOST_ENTRIES = b"PK\x01\x02", 1000
"""What the directory of an archive writes before each entry: reading 200,000 takes seconds."""

_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(RuntimeError, EOFError, OSError, ValueError, IndexError),
)
"""What reading an archive raises of which any byte may be wrong."""

Taken = tuple[Attachment, bytes]


class BadFileError(PermanentError):
    """A file that is not taken, and why."""


def taken(name: str, data: bytes) -> list[Taken]:
    """Return the files that something is, an archive unpacked; BadFileError for what is not taken.

    Raises it too for an archive that is a trap: too many files, too large, paths that lead out of
    it, links, or another archive.
    """
    if data.startswith(_ZIP):
        return list(_unpacked(data))
    return [_file(name, data)]


def _unpacked(data: bytes) -> Iterator[Taken]:
    if data.count(_ENTRY) > MOST_ENTRIES:
        raise BadFileError(f"the archive has more than {MOST_ENTRIES} entries")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [one for one in archive.infolist() if not one.is_dir()]
            if len(entries) > MOST_ATTACHED:
                raise BadFileError(f"the archive has more than {MOST_ATTACHED} files")
            room = MOST_BYTES
            for entry in entries:
                content = _read(archive, entry, room)
                room -= len(content)
                yield _file(entry.filename, content)
    except _UNREADABLE as error:
        raise BadFileError(f"the archive cannot be read: {type(error).__name__}") from None


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, room: int) -> bytes:
    """Return the bytes of an entry, of which no more are unpacked than there is room for."""
    name = line(entry.filename, LONGEST_NAME)
    if _leads_out(entry.filename):
        raise BadFileError(f"{name!r} leads out of the archive")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise BadFileError(f"{name!r} is a link")
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in _METHODS:
        raise BadFileError(f"{name!r} is encrypted, or packed in an odd way")
    with archive.open(entry) as opened:
        content = opened.read(room + 1)
    if len(content) > room:
        raise BadFileError(f"the archive is over {MOST_BYTES} bytes unpacked")
    if len(content) > MOST_RATIO * max(entry.compress_size, 1):
        raise BadFileError(f"{name!r} unpacks to more than {MOST_RATIO} times its size")
    if content.startswith(_ZIP):
        raise BadFileError(f"{name!r} is an archive in an archive")
    return content


def _leads_out(name: str) -> bool:
    path = PurePosixPath(name)
    return path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name.partition("/")[0]


def _file(name: str, data: bytes) -> Taken:
    shown = line(name, LONGEST_NAME) or "file"
    kind, media_type = _kind(shown, data)
    id = hashlib.sha256(name.encode("utf-8", "surrogatepass") + b"\0" + data).hexdigest()[:16]
    about = Attachment(id=id, name=shown, kind=kind, media_type=media_type, size=len(data))
    return about, data


def _kind(name: str, data: bytes) -> tuple[AttachmentKind, str]:
    for begins, then, media_type in _IMAGES:
        if data.startswith(begins) and data[8:].startswith(then):
            _bounded(name, data, MOST_IMAGE)
            return AttachmentKind.IMAGE, media_type
    _bounded(name, data, MOST_TEXT)
    try:
        data.decode()
    except ValueError:
        raise BadFileError(f"{name!r} is no UTF-8 text, image or zip archive") from None
    if _BINARY in data or not data.strip():
        raise BadFileError(f"{name!r} is empty, or no text")
    return AttachmentKind.TEXT, "text/plain"


def _bounded(name: str, data: bytes, most: int) -> None:
    if len(data) > most:
        raise BadFileError(f"{name!r} is over {most} bytes")
