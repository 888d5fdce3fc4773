"""Bodies: what is one JSON document is read; everything else is refused with its fault named."""

import contextlib
import gzip
import json
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_ingest import decoding

LIMIT = 1024 * 1024
FAULTS = {
    "nothing": (b"", "the body is empty"),
    "blanks": (b" \r\n\t", "the body is empty"),
    "no end": (b'{"alerts": [', "line 1 column"),
    "two documents": (b"{} {}", "Extra data"),
    "UTF-16 with a mark": ('{"a": 1}'.encode("utf-16"), "UTF-16"),
    "UTF-16 without one": ('{"a": 1}'.encode("utf-16-le"), "UTF-16"),
    "big-endian UTF-16": ('{"a": 1}'.encode("utf-16-be"), "UTF-16"),
    "UTF-32": ('{"a": 1}'.encode("utf-32-be"), "UTF-32"),
    "Latin-1": (b'{"name": "caf\xe9"}', "not UTF-8 at byte 13"),
    "a long form of a character": (b'{"name": "\xc0\xaf"}', "not UTF-8 at byte 10"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "byte order mark"),
    "NUL": (b'{"a": "\x00"}', "NUL"),
    "NUL as an escape": (rb'{"a": "\u0000"}', "NUL"),
    "NUL in a name": (rb'{"a\u0000": 1}', "NUL"),
    "half a character": (rb'{"a": "\ud800"}', "lone surrogate"),
    "the other half": (rb'[["\uDFFF"]]', "lone surrogate"),
    "halves the wrong way round": (rb'{"a": "\udc00\ud800"}', "lone surrogate"),
    "half a character as a name": (rb'{"\udfff": 1}', "lone surrogate"),
    "a raw line break in a text": (b'{"a": "\n"}', "control character"),
    "NaN": (b'{"a": NaN}', "NaN"),
    "infinity": (b"[-Infinity]", "-Infinity"),
    "a number that is too large": (b'{"a": 1e400}', "1e400 is too large"),
    "a number without an end": (b'{"a": ' + b"9" * 5000 + b"}", "over 40 digits"),
    "a name twice": (b'{"status": "firing", "status": "resolved"}', "'status' stands twice"),
    "a name twice, deep inside": (b'[{"a": {"b": 1, "b": 1}}]', "'b' stands twice"),
    "a name twice, once escaped": (rb'{"a": 1, "\u0061": 2}', "'a' stands twice"),
    "65 lists": (b"[" * 65 + b"]" * 65, "64 levels"),
    "5,000 objects": (b'{"a":' * 5000 + b"1" + b"}" * 5000, "64 levels"),
    "lists that never end": (b"[" * LIMIT, "64 levels"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_named(what):
    body, fault = FAULTS[what]
    with pytest.raises(decoding.UndecodableError, match=r"^not JSON: ") as refused:
        decoding.json_of(body)
    assert fault.lower() in str(refused.value).lower()
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 64 + b"]" * 64,
        b'{"a": "' + b"[{" * 500 + b'"}',
        b'{"a": "\\"' + b"[{" * 500 + b'\\\\"}',
        rb'{"a": "\\u0000 and \\ud800 are how it is written"}',
        rb'{"a": "\ud83d\udd25"}',
        b' {"a": [{"b": 1}, {"b": 1}]}\r\n',
        b'{"a": 123456789012345678901234567890, "b": -1.5e-300, "c": ""}',
        '{"ä": "重い \N{FIRE} \N{NO-BREAK SPACE}"}'.encode(),
        b"null",
    ],
    ids=range(9),
)
def test_what_only_looks_odd_is_read(body):
    assert decoding.json_of(body) == json.loads(body)


def test_many_names_cost_no_more_than_they_are_long():
    names = ", ".join(f'"{number}": 1' for number in range(50_000))
    with pytest.raises(decoding.UndecodableError, match="'0' stands twice"):
        decoding.json_of(f'{{{names}, "0": 2}}'.encode())


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
PLAIN = st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False)
JSON = st.recursive(
    PLAIN | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None)
@given(value=JSON, ascii_only=st.booleans())
def test_every_plain_document_says_what_it_says(value, ascii_only):
    try:
        body = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False).encode()
    except ValueError:
        return
    assert decoding.json_of(body) == value


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60) | st.text('{}[]",:\\u0d8aeE+-.1\n', max_size=60).map(str.encode))
def test_whatever_is_sent_is_read_or_refused(body):
    for read in (decoding.json_of, decoding.form_of):
        with contextlib.suppress(decoding.UndecodableError):
            read(body)


CODINGS = {"gzip": gzip.compress, "x-gzip": gzip.compress, "deflate": zlib.compress}


@pytest.mark.parametrize("coding", CODINGS)
def test_a_compressed_body_is_inflated(coding):
    assert decoding.inflated(CODINGS[coding](b"{}"), f" {coding.upper()} ", LIMIT) == b"{}"


@pytest.mark.parametrize("coding", ["", "identity"])
def test_a_plain_body_stays_as_it_is(coding):
    assert decoding.inflated(b"{}", coding, LIMIT) == b"{}"


@pytest.mark.parametrize("coding", CODINGS)
def test_a_body_may_be_as_large_as_the_limit_once_it_is_inflated_and_not_larger(coding):
    compress = CODINGS[coding]
    assert len(decoding.inflated(compress(b" " * LIMIT), coding, LIMIT)) == LIMIT
    with pytest.raises(decoding.TooBigError, match=str(LIMIT)):
        decoding.inflated(compress(b" " * (LIMIT + 1)), coding, LIMIT)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("spoil", ["cut", "not compressed", "goes on", "changed"])
def test_a_broken_stream_is_refused(coding, spoil):
    whole = CODINGS[coding](b'{"alerts": []}' * 20)
    changed = whole[:-5] + bytes([whole[-5] ^ 255]) + whole[-4:]
    spoilt = {
        "cut": whole[:-1],
        "not compressed": b'{"alerts": []}',
        "goes on": whole + whole,
        "changed": changed,
    }
    with pytest.raises(decoding.UndecodableError):
        decoding.inflated(spoilt[spoil], coding, LIMIT)


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "compress", "é", "x" * 900])
def test_another_coding_is_named_and_refused(coding):
    with pytest.raises(decoding.UnknownCodingError) as refused:
        decoding.inflated(b"{}", coding, LIMIT)
    assert coding[:20] in str(refused.value)
    assert len(str(refused.value)) < 120


def test_a_form_becomes_a_flat_object():
    form = b"alert=High+CPU&state=%E2%9C%93&empty=&json=%7B%22a%22%3A1%7D"
    expected = {"alert": "High CPU", "state": "✓", "empty": "", "json": '{"a":1}'}
    assert decoding.form_of(form) == expected


@pytest.mark.parametrize(
    "body",
    [b"", b"alert", b"a=1&a=2", b"a=%00", b"a=%ff", b"a=\xff", b"&".join([b"a=1"] * 1001)],
    ids=range(7),
)
def test_what_is_no_form_is_refused(body):
    with pytest.raises(decoding.UndecodableError):
        decoding.form_of(body)
