import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_gitops.scalars import meaning, same
from tocsin_gitops.splice import set_scalar
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, documents, walk
from tocsin_gitops.yaml_paths import PathMissing, find

SHAPES = Path(__file__).parent / "shapes"
APP = ("spec", "template", "spec", "containers", "[name=app]")
MEMORY = (*APP, "resources", "limits", "memory")
REPLICAS = ("spec", "replicas")

EDITS = [
    ("01-flush-left-list", 0, MEMORY, "192Mi", "384Mi"),
    ("02-indented-list-with-comments", 0, MEMORY, "192Mi", "384Mi"),
    ("02-indented-list-with-comments", 0, (*APP, "resources", "limits", "cpu"), "1", "2"),
    ("03-several-documents", 1, REPLICAS, 2, 4),
    ("04-values-with-anchors", 0, ("resources", "limits", "memory"), "96Mi", "128Mi"),
    ("05-windows-line-ends", 0, REPLICAS, 2, 3),
    ("06-no-final-line-end", 0, REPLICAS, 2, 3),
    ("07-words-that-look-like-types", 0, REPLICAS, 2, 3),
    ("07-words-that-look-like-types", 0, ("spec", "defaultMode"), 0o644, 0o600),
    ("08-block-scalars", 0, ("replicas",), 2, 3),
    ("09-kustomization", 0, ("replicas", "[name=ledger]", "count"), 2, 4),
    ("10-odd-spacing", 0, ("images", "[name=bank/ledger]", "newTag"), "4.1.0", "4.1.1"),
    ("11-flow-style", 0, (*APP[2:], "resources", "limits", "memory"), "64Mi", "128Mi"),
    ("12-escapes-and-unicode", 0, REPLICAS, 2, 3),
    ("12-escapes-and-unicode", 0, ("metadata", "annotations", "owner"), "that's ours", "it's ok"),
    ("13-nothing-in-many-ways", 0, ("spec", "lonely"), "32Mi", "64Mi"),
    ("13-nothing-in-many-ways", 0, ("spec", "b"), None, 3),
    ("14-blank-lines", 0, REPLICAS, 2, 3),
    (
        "15-application",
        0,
        ("spec", "source", "helm", "parameters", "[name=replicas]", "value"),
        "2",
        "3",
    ),
]


def shape(name: str) -> bytes:
    data = (SHAPES / f"{name}.yaml").read_bytes()
    return data.replace(b"\n", b"\r\n") if "windows" in name else data


@pytest.mark.parametrize(("name", "document", "path", "old", "new"), EDITS)
def test_an_edit_changes_one_line_and_keeps_every_other_byte(name, document, path, old, new):
    before = shape(name)
    after = set_scalar(before, document, path, old, new)
    lines = list(zip(before.split(b"\n"), after.split(b"\n"), strict=True))
    assert sum(a != b for a, b in lines) == 1
    assert _load(after, document, path) == (new if not isinstance(old, str) else str(new))


def _load(data: bytes, document: int, path):
    return meaning(find(documents(data.decode())[document], path))


def test_the_quotes_a_value_had_are_kept():
    assert set_scalar(b"a: 'x'\n", 0, ("a",), "x", "it's") == b"a: 'it''s'\n"
    assert set_scalar(b'a: "x"\n', 0, ("a",), "x", 'say "y\\z"') == b'a: "say \\"y\\\\z\\""\n'


READ_AS_ANOTHER_TYPE = [
    "yes",
    "NO",
    "y",
    "off",
    "null",
    "~",
    "0644",
    "0o7",
    "0x1F",
    "1e3",
    "1.10",
    "1_000",
    "12:30:45",
    "2024-01-01",
    "12345e7",
    "0b11",
    ".inf",
    "+1",
    ".5",
    "=",
    "<<",
    "*a",
    "&a",
    "!t",
    "{x",
    "[x",
    "%z",
    "@q",
    "x:",
]


@pytest.mark.parametrize("word", [*READ_AS_ANOTHER_TYPE, "", "- a", "a: b", "a #b", " a", "a "])
def test_text_that_some_reader_would_take_for_another_type_is_quoted(word):
    assert set_scalar(b"a: old # why\n", 0, ("a",), "old", word) == f'a: "{word}" # why\n'.encode()


@pytest.mark.parametrize("word", ["256Mi", "1.2.3", "reg.example/a/b:1.2-rc.1", "v1", "a b", "x@y"])
def test_text_that_is_safe_stays_plain(word):
    assert set_scalar(b"a: old\n", 0, ("a",), "old", word) == f"a: {word}\n".encode()


def test_a_byte_order_mark_and_a_missing_final_line_end_survive():
    assert set_scalar(b"\xef\xbb\xbfa: 1", 0, ("a",), 1, 2) == b"\xef\xbb\xbfa: 2"


def test_the_item_with_the_name_is_changed_wherever_it_stands():
    data = b"c:\n- {name: web, v: 1}\n- {name: app, v: 1}\n"
    after = set_scalar(data, 0, ("c", "[name=app]", "v"), 1, 2)
    assert after == b"c:\n- {name: web, v: 1}\n- {name: app, v: 2}\n"


def test_a_key_with_dots_is_one_step():
    data = b"data:\n  app.conf: a\n"
    assert set_scalar(data, 0, ("data", "app.conf"), "a", "b") == b"data:\n  app.conf: b\n"


REFUSED = [
    (b"a: 1\na: 2\n", ("a",), 1, "stands twice"),
    (b"a:\n\tb: 1\n", ("a", "b"), 1, "not plain YAML"),
    (b"{{- if .Values.x }}\na: 1\n{{- end }}\n", ("a",), 1, "not plain YAML"),
    (b"a: {{ .Values.x }}\nb: 1\n", ("b",), 1, "template"),
    (b"a: '{{ x }}'\n", ("a",), "{{ x }}", "template"),
    (b"a: ${SIZE}\n", ("a",), "${SIZE}", "template"),
    (b"a: &x 1\nb: *x\n", ("b",), 1, "alias"),
    (b"a: &x {c: 1}\nb: *x\n", ("b", "c"), 1, "alias *x"),
    (b"a: &x 1\nb: *x\n", ("a",), 1, "&x"),
    (b"a: &x {c: 1}\nb: *x\n", ("a", "c"), 1, "&x"),
    (b"a: &x {c: 1}\nb: {<<: *x, d: 2}\n", ("b", "c"), 1, "merge key"),
    (b"a: |-\n  text\n", ("a",), "text", "block scalar"),
    (b"a: >\n  text\n", ("a",), "text\n", "block scalar"),
    (b"a:\nb: 1\n", ("a",), None, "empty"),
    (b"a: !!str 1\n", ("a",), "1", "tag"),
    (b"a: {b: 1}\n", ("a",), 1, "mapping"),
    (b"a: [1]\n", ("a",), 1, "sequence"),
    (b"a: \xff\n", ("a",), "x", "UTF-8"),
    ("a: 1\nb: x\u0085y\n".encode(), ("a",), 1, "1.1 and 1.2"),
    ("a: 1\nb: x\u2028y\n".encode(), ("a",), 1, "1.1 and 1.2"),
    ("a: 1\nb: x\u2029y\n".encode(), ("a",), 1, "1.1 and 1.2"),
    (b"a: 1\n", ("b",), 1, "nothing at b"),
    (b"a: [1]\n", ("a", 1), 1, "nothing at a[1]"),
    (b"a: [1]\n", ("a", -1), 1, "nothing at a"),
    (b"a: 1\n", ("a", "b"), 1, "nothing at a.b"),
    (b"a: [{name: x, v: 1}, {name: x, v: 1}]\n", ("a", "[name=x]", "v"), 1, "2 list items"),
    (b"a: [{name: y, v: 1}]\n", ("a", "[name=x]", "v"), 1, "nothing at a[name=x]"),
    (b"z: &z {name: x}\na: [*z, {name: y, v: 1}]\n", ("a", "[name=y]", "v"), 1, "alias"),
    (b"z: &z x\na: [{name: *z, v: 1}]\n", ("a", "[name=x]", "v"), 1, "alias"),
    (b"a: 128Mi\n", ("a",), "256Mi", "'128Mi', not '256Mi'"),
    (b'a: "8080"\n', ("a",), 8080, "'8080', not 8080"),
    (b"a: 8080\n", ("a",), "8080", "8080, not '8080'"),
    (b"a: yes\n", ("a",), "yes", "True, not 'yes'"),
    (b"a: 1\n", ("a",), True, "1, not True"),
    (b"a: 7\n", ("a",), 7, "already"),
    (b"? {x: 1}\n: 1\na: 1\n", ("a",), 1, "plain word"),
    (b"a: " + b"[" * 90 + b"]" * 90 + b"\nb: 1\n", ("b",), 1, "deeper"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "path", "old", "why"), REFUSED)
def test_what_cannot_be_edited_for_certain_is_refused_with_a_reason(data, path, old, why):
    with pytest.raises(EditRefused) as refused:
        set_scalar(data, 0, path, old, 7)
    assert why in str(refused.value)


def test_a_number_matches_whether_written_with_or_without_a_fraction():
    assert set_scalar(b"a: 1\n", 0, ("a",), 1.0, 2) == b"a: 2\n"


@pytest.mark.parametrize(
    "new", ["line1\nline2", "bell\a", "\u2028", float("inf"), 1e-07, "a\u202eb"]
)
def test_a_value_that_cannot_be_written_on_one_clear_line_is_refused(new):
    with pytest.raises(EditRefused):
        set_scalar(b"a: 1\n", 0, ("a",), 1, new)


def test_a_document_that_is_not_there_is_refused():
    with pytest.raises(EditRefused, match="1 documents"):
        set_scalar(b"a: 1\n", 1, ("a",), 1, 2)


def test_a_path_that_leads_nowhere_is_told_from_one_that_may_not_be_followed():
    root = documents("a: &x {c: 1}\nb: *x\n")[0]
    with pytest.raises(PathMissing):
        find(root, ("z",))
    with pytest.raises(EditRefused) as refused:
        find(root, ("b", "c"))
    assert not isinstance(refused.value, PathMissing)


def _places() -> Iterator[tuple[str, int, tuple[str | int, ...], Node]]:
    for name in sorted(path.stem for path in SHAPES.glob("*.yaml")):
        for index, root in enumerate(documents(shape(name).decode())):
            yield from ((name, index, path, node) for path, node in _scalars(root, ()))


def _scalars(node: Node, path: tuple[str | int, ...]):
    if node.kind is NodeKind.SCALAR:
        yield path, node
    elif node.kind is NodeKind.MAPPING:
        for key, value in node.pairs:
            yield from _scalars(value, (*path, key.value))
    elif node.kind is NodeKind.SEQUENCE:
        for index, item in enumerate(node.children):
            yield from _scalars(item, (*path, index))


PLACES = list(_places())
WORDS = [
    "256Mi",
    "yes",
    "0644",
    "1.10",
    "null",
    "-x",
    "*a",
    "&b",
    "!t",
    "[x]",
    "{y}",
    "%z",
    "@q",
    "`w",
    "é🚀",
    "1e3",
    "12:30:45",
    "2024-01-01",
    "#c",
    "x:y",
    "a,b",
    "...",
    "---",
    "{{x}}",
    "\\n",
]
NASTY = [
    7,
    True,
    None,
    3.5,
    "",
    "a: b # c",
    'it\'s "q"',
    " a",
    "a ",
    "- a",
    "? k",
    "| x",
    "> y",
    *WORDS,
]
VALUES = st.sampled_from(NASTY) | st.text(max_size=12) | st.integers() | st.floats(allow_nan=False)


def _check(place, new) -> bool:
    name, index, path, node = place
    before = shape(name)
    try:
        old = meaning(node)
        after = set_scalar(before, index, path, old, new)
    except EditRefused:
        return False
    text, edited = before.decode(), after.decode()
    assert edited.startswith(text[: node.start])
    assert edited.endswith(text[node.end :])
    roots, changed = documents(text), documents(edited)
    assert len(roots) == len(changed)
    pairs = itertools.chain.from_iterable(
        zip(walk(a), walk(b), strict=True) for a, b in zip(roots, changed, strict=True)
    )
    differing = [(a, b) for a, b in pairs if (a.value, a.style) != (b.value, b.style)]
    assert [(a.start, same(meaning(b), new)) for a, b in differing] == [(node.start, True)]
    was, now = _load_all(text), _load_all(edited)
    holder, key = _at(now[index], path[:-1]), path[-1]
    assert same(holder[key], new)
    holder[key] = _at(was[index], path)
    assert was == now
    return True


def _load_all(text):
    return list(yaml.load_all(text, Loader=yaml.CSafeLoader))


def _at(value, path):
    for step in path:
        value = value[step]
    return value


def test_every_scalar_of_every_shape_takes_nasty_values_or_refuses_them():
    tried = [(place, new) for i, place in enumerate(PLACES) for new in NASTY[i % 6 :: 6]]
    done = sum(_check(place, new) for place, new in tried)
    assert done > 0.8 * len(tried)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PLACES), VALUES)
def test_an_edit_changes_the_bytes_of_its_token_and_the_meaning_it_declares(place, new):
    _check(place, new)
