import copy
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_gitops import trees
from tocsin_gitops.structure import append, delete, insert
from tocsin_gitops.yaml_nodes import EditRefused, Node, NodeKind, documents
from tocsin_gitops.yaml_paths import find

SHAPES = Path(__file__).parent / "shapes"
APP = ("spec", "template", "spec", "containers", "[name=app]")
RESOURCES = {"requests": {"cpu": "100m"}, "limits": {"memory": "64Mi"}}
RULE = {"to": [{"namespaceSelector": {}}], "ports": [{"protocol": "UDP", "port": 53}]}


def written(text: str) -> bytes:
    return dedent(text).encode()


DEPLOYMENT = """\
    # owned by shop
    spec:
      template:
        spec:
          containers:
          - name: app  # the one
            image: "a:1"
            # ports come last
            ports: [{containerPort: 80}]

          - name: side
            image: b:1
          volumes: []
    """


def test_a_field_goes_below_the_last_one_of_its_mapping_with_the_mappings_around_it():
    after = insert(written(DEPLOYMENT), 0, (*APP, "resources", "requests", "cpu"), "100m")
    added = "        resources:\n          requests:\n            cpu: 100m\n"
    line = "        ports: [{containerPort: 80}]\n"
    assert after == written(DEPLOYMENT).replace(line.encode(), (line + added).encode())


def test_a_list_that_was_empty_brackets_opens_into_lines():
    place = ("spec", "template", "spec", "volumes")
    after = append(written(DEPLOYMENT), 0, place, [], {"name": "tmp", "emptyDir": {}})
    opened = b"      volumes:\n      - name: tmp\n        emptyDir: {}\n"
    assert after == written(DEPLOYMENT).replace(b"      volumes: []\n", opened)


INSERTED = [
    ("a: 1\n", ("b",), 2, "a: 1\nb: 2\n"),
    ("a: 1", ("b",), 2, "a: 1\nb: 2"),
    ("a: 1\r\nb: 2\r\n", ("c", "d"), "x", "a: 1\r\nb: 2\r\nc:\r\n  d: x\r\n"),
    ("\ufeffa: 1\n", ("b",), 2, "\ufeffa: 1\nb: 2\n"),
    ("a: 1 # one\n\n# end\n", ("b",), 2, "a: 1 # one\nb: 2\n\n# end\n"),
    ("a: {b: 1}\n", ("a", "c"), "x, y", 'a: {b: 1, c: "x, y"}\n'),
    ("a: { b: 1 }\n", ("a", "c"), {"d": [1]}, "a: { b: 1, c: {d: [1]} }\n"),
    ("a: {}\n", ("a", "b"), 1, "a:\n  b: 1\n"),
    ("a: {} # none\n", ("a", "b"), 1, "a: {b: 1} # none\n"),
    ("- {}\n- 1\n", (0, "b"), 1, "- {b: 1}\n- 1\n"),
    ('{"a": {"b": "c"}}', ("a", "d"), {"e": "f"}, '{"a": {"b": "c", "d": {"e": "f"}}}'),
    ("a:\n    b: 1\nc: 2\n", ("a", "d", "e"), 1, "a:\n    b: 1\n    d:\n        e: 1\nc: 2\n"),
    ("a:\n  - b: 1\n", ("a", 0, "c"), [{"d": 1}], "a:\n  - b: 1\n    c:\n      - d: 1\n"),
    ("a:\n- b: 1\n", ("a", 0, "c"), [{"d": 1}], "a:\n- b: 1\n  c:\n  - d: 1\n"),
    ("a: |\n  x\n\nb: 1\n", ("c",), 1, "a: |\n  x\n\nb: 1\nc: 1\n"),
    ("b: 1\na: |\n  x\n\n", ("c",), 1, "b: 1\na: |\n  x\nc: 1\n\n"),
    ("b: 1\na:\n", ("c",), 1, "b: 1\na:\nc: 1\n"),
    ("a: 1\n---\na: 1\n...\n", ("b",), "on", 'a: 1\nb: "on"\n---\na: 1\n...\n'),
    ("a: &x 1\nb: *x\n", ("c",), 1, "a: &x 1\nb: *x\nc: 1\n"),
    ("a: {\n  b: 1,\n}\n", ("a", "c"), 1, "a: {\n  b: 1, c: 1,\n}\n"),
    ("'a b': 1\n", ("c: d",), 1, "'a b': 1\n\"c: d\": 1\n"),
]


@pytest.mark.parametrize(("text", "path", "value", "after"), INSERTED)
def test_a_field_is_written_the_way_the_file_is(text, path, value, after):
    assert insert(text.encode(), 0, path, value).decode() == after


APPENDED = [
    ("a:\n- 1\n- 2\nb: 3\n", [1, 2], 4, "a:\n- 1\n- 2\n- 4\nb: 3\n"),
    ("a:\n  -   b: 1\n      c: 2", [{"b": 1, "c": 2}], {"d": 3, "e": {"f": 4}},
     "a:\n  -   b: 1\n      c: 2\n  -   d: 3\n      e:\n        f: 4"),
    ("a: [get]\n", ["get"], "list", "a: [get, list]\n"),
    ('a: ["get"]\n', ["get"], "list", 'a: ["get", "list"]\n'),
    ("a: [\n  get\n]\n", ["get"], "list", "a: [\n  get, list\n]\n"),
    ("a:  []\n", [], RULE,
     "a:\n- to:\n  - namespaceSelector: {}\n  ports:\n  - protocol: UDP\n    port: 53\n"),
    ("a: [] # none\n", [], "x", "a: [x] # none\n"),
    ("a:\n-\n  b: 1\n", [{"b": 1}], {"b": 2}, "a:\n-\n  b: 1\n- b: 2\n"),
    ("a:\n- |\n  x\n\n", ["x\n"], "z", "a:\n- |\n  x\n- z\n\n"),
    ("a:\n- - 1\n", [[1]], [2], "a:\n- - 1\n- [2]\n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "old", "value", "after"), APPENDED)
def test_an_item_is_written_the_way_the_list_is(text, old, value, after):
    assert append(text.encode(), 0, ("a",), old, value).decode() == after


DELETED = [
    ("a: 1\nb: 2 # two\nc: 3\n", ("b",), 2, "a: 1\nc: 3\n"),
    ("a: 1\nb: 2", ("b",), 2, "a: 1"),
    ("a: 1\r\nb: 2", ("b",), 2, "a: 1"),
    ("a: 1\n# of b\nb:\n  c: 1\n  # in b\n  d: 2\n", ("b",), {"c": 1, "d": 2}, "a: 1\n# of b\n"),
    ("a:\n  b: x\nc: 1\n", ("a", "b"), "x", "a: {}\nc: 1\n"),
    ("a:  # why\n  b: x\nc: 1\n", ("a", "b"), "x", "a: {}  # why\nc: 1\n"),
    ("a:\n- x\nc: 1\n", ("a", 0), "x", "a: []\nc: 1\n"),
    ("a:\n- x\n- y\n", ("a", 0), "x", "a:\n- y\n"),
    ("a:\n- b: 1\n  c: 2\n", ("a", 0, "b"), 1, "a:\n- c: 2\n"),
    ("a:\n- b: 1\n  c: 2\n", ("a", 0, "c"), 2, "a:\n- b: 1\n"),
    ("a:\n- {name: x}\n- {name: y}\n", ("a", "[name=y]"), {"name": "y"}, "a:\n- {name: x}\n"),
    ("a: {b: 1, c: 2, d: 3}\n", ("a", "b"), 1, "a: {c: 2, d: 3}\n"),
    ("a: {b: 1, c: 2, d: 3}\n", ("a", "d"), 3, "a: {b: 1, c: 2}\n"),
    ("a: {b: 1}\n", ("a", "b"), 1, "a: {}\n"),
    ("a: [1, 2]\n", ("a", 1), 2, "a: [1]\n"),
    ("a: |\n  x\n\nb: 1\n", ("a",), "x\n", "\nb: 1\n"),
    ("a: 1\nb:\n", ("b",), None, "a: 1\n"),
]


@pytest.mark.parametrize(("text", "path", "old", "after"), DELETED)
def test_what_is_taken_away_leaves_its_neighbours_as_they_were(text, path, old, after):
    assert delete(text.encode(), 0, path, old).decode() == after


REFUSED = [
    (insert, "a: 1\n", ("a",), (2,), "is there already"),
    (insert, "a: 1\n", ("a", "b"), (2,), "no mapping of this file"),
    (insert, "a: [1]\n", ("a", "[name=x]", "b"), (2,), "no mapping of this file"),
    (insert, "a: [1]\n", ("a", 4), (2,), "no mapping of this file"),
    (insert, "a:\nb: 1\n", ("a", "b"), (2,), "no mapping of this file"),
    (insert, "a: &x {b: 1}\nc: *x\n", ("a", "d"), (1,), "&x"),
    (insert, "a: &x {b: 1}\nc: *x\n", ("c", "d"), (1,), "alias"),
    (insert, "a: &x {b: 1}\nc: {<<: *x}\n", ("c", "d"), (1,), "merge key"),
    (insert, "a: |+\n  x\n\n", ("b",), (1,), "more than its field"),
    (insert, "? a\n: 1\n", ("b",), ("{{ x }}",), "template"),
    (insert, "a: 1\n", ("b",), ({"<<": 1},), "no name of a field"),
    (insert, "a: 1\n", ("b",), ({"": 1},), "no name of a field"),
    (insert, "a: 1\n", ("b",), ("x\n y \nz",), "block scalar cannot show"),
    (insert, "{a: 1}\n", ("b",), ("x\ny",), "line break"),
    (insert, "{{- if x }}\na: 1\n{{- end }}\n", ("b",), (1,), "not plain YAML"),
    (append, "a: [1]\n", ("a",), ([], 2), "moved on"),
    (append, "a: [1]\n", ("a",), (["1"], 2), "moved on"),
    (append, "a: {b: 1}\n", ("a",), ([], 2), "no list"),
    (append, "x: &x 1\na: [*x]\n", ("a",), ([1], 2), "alias *x"),
    (append, "a: &x [1]\nb: *x\n", ("a",), ([1], 2), "&x"),
    (append, "a: !t [1]\n", ("a",), ([1], 2), "tag"),
    (delete, "a: 1\nb: 1\n", ("a",), (2,), "moved on"),
    (delete, "a: 1\nb: 1\n", ("c",), (None,), "nothing at c"),
    (delete, "a: 1\n", (), ({"a": 1},), "whole document"),
    (delete, "a: 1\n", ("a",), (1,), "that no key holds"),
    (delete, "a: {b: &x 1}\nc: *x\n", ("a",), ({"b": 1},), "anchor"),
    (delete, "a: &x {b: 1}\nc: *x\n", ("a", "b"), (1,), "&x"),
    (delete, "z: &z {b: 1}\na:\n  <<: *z\n  b: 2\n", ("a", "b"), (2,), "merge key"),
    (delete, "a:\n- b: 1\n", ("a", 0, "b"), (1,), "that no key holds"),
    (delete, "a:\n- - 1\n  - 2\n", ("a", 0, 0), (1,), "shares its line"),
    (delete, "a:\n- b: 1 # why\n  c: 1\n", ("a", 0, "b"), (1,), "shares its line"),
    (delete, "a:\n- b: 1\n  # of c\n  c: 1\n", ("a", 0, "b"), (1,), "comment"),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "text", "path", "values", "why"), REFUSED)
def test_what_cannot_be_done_for_certain_is_refused_with_a_reason(edit, text, path, values, why):
    with pytest.raises(EditRefused) as refused:
        edit(text.encode(), 0, path, *values)
    assert why in str(refused.value)


def test_a_document_that_is_not_there_is_refused():
    with pytest.raises(EditRefused, match="none with index 1"):
        insert(b"a: 1\n", 1, ("b",), 1)


TREES = [1, "x", "yes", "0644", "a b: c # d", None, {}, [], [1, "on"], RESOURCES, [RULE, RULE]]
Place = tuple[tuple[str | int, ...], Node]


def places(node: Node, path: tuple[str | int, ...] = ()) -> Iterator[Place]:
    yield path, node
    if node.kind is NodeKind.MAPPING:
        for key, value in node.pairs:
            yield from places(value, (*path, key.value))
    elif node.kind is NodeKind.SEQUENCE:
        for index, item in enumerate(node.children):
            yield from places(item, (*path, index))


def loaded(text: str) -> list:
    return list(yaml.load_all(text, Loader=yaml.CSafeLoader))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def kept(before: str, after: str) -> bool:
    """Whether one run of bytes was put in or taken out, besides brackets for what is empty now."""
    spots = (i for mark in (" []", " {}") for i in range(len(after)) if after.startswith(mark, i))
    return _one_run(before, after) or any(
        _one_run(before, after[:i] + after[i + 3 :]) for i in spots
    )


def _one_run(before: str, after: str) -> bool:
    pairs = enumerate(zip(before, after, strict=False))
    shorter = min(len(before), len(after))
    head = next((i for i, (a, b) in pairs if a != b), shorter)
    tail = shorter - head
    while tail and before[len(before) - tail :] != after[len(after) - tail :]:
        tail -= 1
    gone, new = before[head : len(before) - tail], after[head : len(after) - tail]
    return not gone.strip("[]{} \t\r\n") or not new.strip("[]{} \t\r\n")


def edits(text: str, index: int, place: Place, tree) -> Iterator[tuple[str, list]]:
    """Yield what each edit of a place makes, and what readers are to read then."""
    path, node = place
    data = text.encode()
    was = loaded(text)
    try:
        if node.kind is NodeKind.MAPPING:
            after = insert(data, index, (*path, "new", "er"), tree).decode()
            at(was[index], path)["new"] = {"er": tree}
            yield after, was
        elif node.kind is NodeKind.SEQUENCE:
            after = append(data, index, path, trees.read(node), tree).decode()
            at(was[index], path).append(tree)
            yield after, was
    except EditRefused:
        pass
    was = loaded(text)
    try:
        after = delete(data, index, path, trees.read(node)).decode()
        del at(was[index], path[:-1])[path[-1]]
        yield after, was
    except EditRefused:
        pass


def shapes() -> Iterator[tuple[str, int, Place]]:
    for file in sorted(SHAPES.glob("*.yaml")):
        text = file.read_bytes().decode()
        text = text.replace("\n", "\r\n") if "windows" in file.name else text
        for index, root in enumerate(documents(text)):
            yield from ((text, index, place) for place in places(root))


def test_every_place_of_every_shape_is_added_to_and_taken_away_or_refused():
    tried = done = 0
    for number, (text, index, place) in enumerate(shapes()):
        tried += 1 + (place[1].kind is not NodeKind.SCALAR)
        for after, expected in edits(text, index, place, TREES[number % len(TREES)]):
            done += 1
            assert loaded(after) == expected
            assert kept(text, after), (text, after)
    assert done > 0.8 * tried


WORDS = st.sampled_from(["a", "b c", "on", "x-y", "1", "app.conf", "é"])
LEAVES = st.none() | st.booleans() | st.integers(0, 99) | WORDS
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def files(draw) -> str:
    value = draw(st.dictionaries(WORDS, VALUES, min_size=1, max_size=4))
    flow = draw(st.sampled_from([True, False, None]))
    text = yaml.safe_dump(value, indent=draw(st.sampled_from([2, 4])), default_flow_style=flow,
                          allow_unicode=True, width=draw(st.sampled_from([10, 80])))  # fmt: skip
    lines = text.splitlines()
    if draw(st.booleans()) and not flow:
        spot = draw(st.integers(0, len(lines)))
        lines.insert(spot, draw(st.sampled_from(["# why", "", "      # deep"])))
    joined = draw(st.sampled_from(["\n", "\r\n"])).join(lines)
    return joined + draw(st.sampled_from(["", "\n"])) * ("\r" not in joined)


@settings(max_examples=150, deadline=None)
@given(files(), st.data())
def test_whatever_the_file_looks_like_an_edit_does_what_it_declares_and_no_more(text, data):
    try:
        found = list(places(documents(text)[0]))
        before = loaded(text)
    except (EditRefused, yaml.YAMLError):
        return
    place = data.draw(st.sampled_from(found))
    tree = data.draw(st.sampled_from(TREES))
    for after, expected in edits(text, 0, place, tree):
        assert loaded(after) == expected
        assert kept(text, after), (text, after)
    assert loaded(text) == before


def test_what_is_read_of_a_file_is_what_yaml_readers_read():
    text = (SHAPES / "01-flush-left-list.yaml").read_text()
    assert trees.read(documents(text)[0]) == loaded(text)[0]
    assert trees.read(find(documents(text)[0], ())) == copy.deepcopy(loaded(text)[0])


@pytest.mark.parametrize(
    ("written", "seen", "shown"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"b": 2}, False),
        ([{"port": 53}], [{"port": 53, "protocol": "TCP"}], True),
        ([1], [1, 2], False),
        (1, True, False),
        ([1], {"a": 1}, False),
    ],
)
def test_a_cluster_fills_in_fields_and_changes_none(written, seen, shown):
    assert trees.shown_by(written, seen) is shown
