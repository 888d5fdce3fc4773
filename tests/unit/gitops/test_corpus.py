"""Realistic changes to realistic files: the lines that are meant and no other, or a refusal."""

import copy
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts import Edit, EditOp, FieldChange, ObjectRef
from tocsin_gitops import manifests, structure, trees
from tocsin_gitops.diffs import reverse_diff, unified_diff
from tocsin_gitops.editing import EditRefused, apply
from tocsin_gitops.locate import Located, locate
from tocsin_gitops.splice import set_scalar
from tocsin_gitops.yaml_nodes import Node, NodeKind, documents

CORPUS = Path(__file__).parent / "corpus"
POD = ("spec", "template", "spec")
LONG = "21-four-thousand-lines.yaml"


def container(name: str, *path: str | int) -> tuple[str | int, ...]:
    return (*POD, "containers", f"[name={name}]", *path)


def four_thousand_lines() -> bytes:
    """A rendered release as people commit it: one file with everything in it."""
    one = (CORPUS / "04-many-comments.yaml").read_text(encoding="utf-8")
    parts = (one.replace("name: web ", f"name: web-{n} ") for n in range(1, 95))
    return "---\n".join(parts).encode()


FILES = {
    one.relative_to(CORPUS).as_posix(): one.read_bytes()
    for one in sorted(CORPUS.rglob("*.*"))
    if one.name != "README.md"
} | {LONG: four_thousand_lines()}

STORAGE = ("spec", "volumeClaimTemplates", 0, "spec", "resources", "requests", "storage")
BODY_SIZE = ("metadata", "annotations", "nginx.ingress.kubernetes.io/proxy-body-size")
DIGEST = "registry.example/shop/recommender@sha256:"
OLD_DIGEST = "1f2e3d4c5b6a79880f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a6978"
NEW_DIGEST = "0" * 64

SET = [
    ("01", "Deployment", container("server", "resources", "limits", "memory"), "128Mi", "256Mi"),
    ("02", "StatefulSet", STORAGE, "8Gi", "16Gi"),
    ("03", "DaemonSet", container("exporter", "resources", "limits", "memory"), "180Mi", "256Mi"),
    ("04", "Deployment", container("web", "livenessProbe", "httpGet", "port"), 8081, 8080),
    ("05", "Deployment", container("worker", "resources", "requests", "memory"), "128Mi", "192Mi"),
    ("06", "Deployment", container("api", "resources", "limits", "memory"), "96Mi", "192Mi"),
    ("07", "Deployment", ("spec", "replicas"), 1, 2),
    ("08", "Deployment", container("mailer", "env", "[name=SMTP_PORT]", "value"), "25", "587"),
    ("09", "Deployment", container("billing", "env", "[name=POOL_SIZE]", "value"), "5", "10"),
    ("10", "Ingress", BODY_SIZE, "1m", "8m"),
    ("10", "ConfigMap", ("data", "app.properties.timeout"), "30", "60"),
    ("11", "Service", ("spec", "selector", "app"), "gate-keeper", "gatekeeper"),
    ("12", "CronJob", ("spec", "schedule"), "0 2 * * *", "0 3 * * *"),
    ("13", None, ("replicaCount",), 2, 3),
    ("13", None, ("livenessProbe", "initialDelaySeconds"), 10, 40),
    ("14", "Kustomization", ("images", "[name=bank/ledger]", "newTag"), "v0.6.4", "v0.6.3"),
    ("14", "Kustomization", ("images", "[name=bank/proxy]", "newTag"), "1.10", "1.9"),
    ("14", "Kustomization", ("replicas", "[name=ledger]", "count"), 2, 4),
    ("15", "Deployment", container("ledger", "resources", "limits", "memory"), "384Mi", "512Mi"),
    ("16", "CronJob", ("spec", "jobTemplate", "spec", "activeDeadlineSeconds"), 120, 600),
    ("17", "Rollout", container("recommender", "image"), DIGEST + OLD_DIGEST, DIGEST + NEW_DIGEST),
    ("19", "Deployment", container("search", "resources", "limits", "memory"), "1Gi", "2Gi"),
    ("21", "Deployment/web-57", ("spec", "replicas"), 2, 3),
]  # fmt: skip


class Doing(NamedTuple):
    op: EditOp
    path: tuple[str | int, ...]
    old: Any = None
    new: Any = None


def insert(path, new) -> Doing:
    return Doing(EditOp.INSERT, path, None, new)


SMTP = [{"name": "SMTP_HOST", "value": "smtp.shop.svc"}, {"name": "SMTP_PORT", "value": "25"}]
USER = {"name": "SMTP_USER", "value": "on"}
PROBED = ("livenessProbe", "timeoutSeconds")
LIMITS = '            "resources": {"limits": {"memory": "1Gi"}'
INLINE = """\
- op: replace
  path: /spec/template/spec/containers/0/resources/limits/memory
  value: 256Mi"""
MORE = [
    ("14", "Kustomization",
     Doing(EditOp.SET, ("patches", 1, "patch"), INLINE, INLINE.replace("256Mi", "384Mi")),
     ["        value: 256Mi"], ["        value: 384Mi"]),
    ("04", "Deployment", insert(container("web", *PROBED), 5),
     [], ["            timeoutSeconds: 5"]),
    ("08", "Deployment", Doing(EditOp.APPEND, container("mailer", "env"), SMTP, USER),
     [], ["        - name: SMTP_USER", '          value: "on"']),
    ("08", "Deployment", Doing(EditOp.DELETE, (*POD, "nodeSelector", "disk"), "ssd"),
     ["        disk: ssd"], []),
    ("01", "Deployment", insert(container("server", *PROBED), 5),
     [], ["          livenessProbe:\r", "            timeoutSeconds: 5\r"]),
    ("16", "CronJob", insert(("spec", "startingDeadlineSeconds"), 200),
     [], ["    startingDeadlineSeconds: 200"]),
    ("17", "Rollout", insert(container("recommender", "env"), [USER]),
     [], ["        env:", "        - name: SMTP_USER", '          value: "on"']),
    ("19", "Deployment", insert(container("search", "resources", "requests"), {"cpu": "100m"}),
     [f"{LIMITS}}}"], [f'{LIMITS}, "requests": {{"cpu": "100m"}}}}']),
    ("21", "Deployment/web-3", insert(container("web", *PROBED), 5),
     [], ["            timeoutSeconds: 5"]),
]  # fmt: skip

MEMORY = ("resources", "limits", "memory")
REFUSED = [
    ("05", "Deployment", container("worker", *MEMORY), "256Mi", "alias"),
    ("05", "Deployment", ("x-defaults", "memory"), "256Mi", "&memory"),
    ("05", "Deployment", container("worker", "readinessProbe", "periodSeconds"), 10, "alias"),
    ("05", "Deployment", container("worker", "livenessProbe", "httpGet", "path"), "/ready",
     "merge key"),
    ("07", "ConfigMap", ("data", "overview.json"), "x", "template"),
    ("07", "ConfigMap", ("data", "folded.txt"), "x", "block scalar"),
    ("09", "Deployment", container("billing", "env", "[name=POOL_SIZE]", "value"), 5, "'5', not 5"),
    ("13", None, ("worker", "resources", "limits", "memory"), "512Mi", "&limits"),
    ("13", None, ("worker", "resources", "requests", "memory"), "512Mi", "merge key"),
    ("13", None, ("resources", "limits", "memory"), "128Mi", "nothing at resources.limits"),
    ("14", "Kustomization", ("patches", 1, "target", "kind"), "Job", "not 'Job'"),
    ("18", "Deployment", container("valkey", *MEMORY), "64Mi", "no document is"),
    ("20", "Deployment", ("spec", "replicas"), 1, "not plain YAML"),
]  # fmt: skip


def named(number: str) -> str:
    (name,) = (file for file in FILES if file.startswith(f"{number}-"))
    return name


def edit(number: str, kind: str | None, doing: Doing) -> Edit:
    """The edit of the only document of a kind, or of one with a name; values have no kind."""
    file = named(number)
    kind, _, name = (kind or "").partition("/")
    try:
        found = [one.ref for one in manifests.read(file, FILES[file])]
    except EditRefused:
        found = []
    fits = [ref for ref in found if ref.kind == kind and name in ("", ref.name)]
    document = fits[0] if fits else ObjectRef(kind=kind or "Values", name=name or "x")
    op, path, old, new = doing
    held = {"old_tree" if isinstance(old, dict | list) else "old": old}
    held |= {"new_tree" if isinstance(new, dict | list) else "new": new}
    return Edit(file=file, op=op, document=document, path=path, **held)


def setting(number: str, kind: str | None, path, old, new) -> Edit:
    return edit(number, kind, Doing(EditOp.SET, path, old, new))


def applied(one: Edit) -> bytes:
    """Values of a chart are no object, so they are edited by their number."""
    if one.document and one.document.kind == "Values":
        return set_scalar(FILES[one.file], 0, one.path, one.old, one.new)
    return apply(FILES, [one])[one.file]


def changed_lines(file: str, after: bytes) -> tuple[list[str], list[str]]:
    lines = unified_diff({file: FILES[file]}, {file: after}).split("\n")[3:]
    removed = [line[1:] for line in lines if line.startswith("-")]
    return removed, [line[1:] for line in lines if line.startswith("+")]


def loaded(data: bytes) -> list:
    return list(yaml.load_all(data.decode("utf-8-sig"), Loader=yaml.CSafeLoader))


def differences(was, now, path=()) -> Iterator[tuple]:
    """Yield where two trees differ, with both values; what only one of them has differs whole."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            yield from differences(was.get(key, ...), now.get(key, ...), (*path, key))
    elif isinstance(was, list) and isinstance(now, list):
        for n in range(max(len(was), len(now))):
            yield from differences(
                *(one[n] if n < len(one) else ... for one in (was, now)), (*path, n)
            )
    elif (type(was), was) != (type(now), now):
        yield path, was, now


def test_the_corpus_is_what_it_says():
    assert len(FILES) == 21
    assert FILES[named("01")].count(b"\r\n") == FILES[named("01")].count(b"\n")
    assert FILES[named("02")].startswith(b"\xef\xbb\xbf")
    assert not FILES[named("03")].endswith(b"\n")
    assert len(FILES[LONG].splitlines()) > 4000
    assert {number for number, *_ in (*SET, *MORE, *REFUSED)} == {name[:2] for name in FILES}


@pytest.mark.parametrize(("number", "kind", "path", "old", "new"), SET)
def test_another_value_is_one_line_less_and_one_line_more(number, kind, path, old, new):
    one = setting(number, kind, path, old, new)
    after = applied(one)
    removed, added = changed_lines(one.file, after)
    assert (len(removed), len(added)) == (1, 1)
    assert removed[0].replace(str(old), str(new), 1) == added[0]
    was, now = loaded(FILES[one.file]), loaded(after)
    ((where, before, becomes),) = differences(was, now)
    assert (before, becomes) == (old, new)
    assert where[-1] == path[-1]


@pytest.mark.parametrize(("number", "kind", "doing", "gone", "come"), MORE)
def test_what_is_added_or_taken_away_is_its_own_lines(number, kind, doing, gone, come):
    one = edit(number, kind, doing)
    after = applied(one)
    assert changed_lines(one.file, after) == (gone, come)
    ((_, before, becomes),) = differences(loaded(FILES[one.file]), loaded(after))
    assert (before is ...) == (doing.op in (EditOp.INSERT, EditOp.APPEND))
    assert (becomes is ...) == (doing.op is EditOp.DELETE)


@pytest.mark.parametrize(("number", "kind", "path", "old", "why"), REFUSED)
def test_what_is_not_provably_safe_is_refused_for_the_right_reason(number, kind, path, old, why):
    with pytest.raises(EditRefused) as refused:
        applied(setting(number, kind, path, old, "7"))
    assert why in str(refused.value)


@pytest.mark.parametrize("case", SET, ids=str)
def test_git_takes_every_edit_back_from_its_reverse_diff(tmp_path, case):
    one = setting(*case)
    after = applied(one)
    target = tmp_path / one.file
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(after)
    patch = reverse_diff(FILES, {one.file: after}).encode()
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch, check=True)
    assert target.read_bytes() == FILES[one.file]


def test_d6_one_value_of_a_folder_of_odd_files_is_one_line_in_one_file():
    folder = {f"apps/{name}": data for name, data in FILES.items() if not name.startswith("14")}
    target = ObjectRef(kind="Deployment", namespace="shop", name="checkout")
    path = container("server", *MEMORY)
    found = locate(folder, FieldChange(object=target, path=path, old="128Mi", new="256Mi"))
    assert isinstance(found, Located), found
    after = apply(folder, [found.edit])
    assert list(after) == ["apps/01-windows-line-ends.yaml"]
    diff = unified_diff(folder, after).split("\n")[3:]
    assert [line[0] for line in diff if line[:1] in ("-", "+")] == ["-", "+"]


def test_d7_block_scalars_with_blanks_at_line_ends_keep_every_byte():
    file = named("07")
    after = applied(setting("07", "Deployment", ("spec", "replicas"), 1, 2))
    first, _, _ = FILES[file].partition(b"---\n")
    assert b'"Overview", \n' in first
    assert after.startswith(first + b"---\n")
    assert json.loads(loaded(after)[0]["data"]["overview.json"])["title"] == "Overview"
    assert loaded(after)[1]["spec"]["template"] == loaded(FILES[file])[1]["spec"]["template"]


def test_d8_a_comment_and_the_line_that_opens_the_first_document_stay():
    opening = b"# Copyright the authors; see LICENSE\n# Applied by the cluster bootstrap\n---\n"
    path = ("spec", "selector", "app")
    after = applied(setting("11", "Service", path, "gate-keeper", "gatekeeper"))
    assert FILES[named("11")].startswith(opening)
    assert after.startswith(opening)
    assert after.count(b"---\n") == FILES[named("11")].count(b"---\n")


Place = tuple[str, int, tuple[str | int, ...], Node]


def places(node: Node, path=()) -> Iterator[tuple[tuple, Node]]:
    yield path, node
    if node.kind is NodeKind.MAPPING:
        for key, value in node.pairs:
            yield from places(value, (*path, key.value))
    elif node.kind is NodeKind.SEQUENCE:
        for n, item in enumerate(node.children):
            yield from places(item, (*path, n))


def everywhere() -> Iterator[Place]:
    for file, data in FILES.items():
        if file == LONG or file.startswith("20"):
            continue
        for index, root in enumerate(documents(data.decode("utf-8-sig"))):
            yield from ((file, index, path, node) for path, node in places(root))


PLACES = list(everywhere())
VALUES = st.sampled_from(
    ["256Mi", "on", "0644", "1.10", "a: b # c", "it's", "", 7, True, None, "- x", "é🚀", "{{ x }}"]
)
VALUE_TREES = VALUES | st.sampled_from([[], {}, [1, "on"], {"a": {"b": ["x"]}}])


def at(tree, path):
    for step in path:
        tree = tree[step]
    return tree


def edited(place: Place, op: EditOp, value) -> tuple[bytes, list] | None:
    """What an edit makes of a file and what readers are to read then; None where it is refused."""
    file, index, path, node = place
    data, meant = FILES[file], copy.deepcopy(loaded(FILES[file]))
    try:
        if op is EditOp.SET:
            after = set_scalar(data, index, path, trees.read(node), value)
            at(meant[index], path[:-1])[path[-1]] = value
        elif op is EditOp.INSERT:
            after = structure.insert(data, index, (*path, "new", "er"), value)
            at(meant[index], path)["new"] = {"er": value}
        elif op is EditOp.APPEND:
            after = structure.append(data, index, path, trees.read(node), value)
            at(meant[index], path).append(value)
        else:
            after = structure.delete(data, index, path, trees.read(node))
            del at(meant[index], path[:-1])[path[-1]]
    except EditRefused:
        return None
    return after, meant


def kept(before: bytes, after: bytes) -> tuple[bytes, bytes]:
    """Return what is left of both between their equal ends."""
    pairs = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    head = next((n for n, (a, b) in enumerate(pairs) if a != b), shorter)
    tail = next(
        (
            n
            for n in range(shorter - head)
            if before[len(before) - 1 - n] != after[len(after) - 1 - n]
        ),
        shorter - head,
    )
    return before[head : len(before) - tail], after[head : len(after) - tail]


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(PLACES), st.sampled_from([*EditOp]), VALUE_TREES)
def test_every_untouched_byte_stays_and_the_meaning_changes_as_declared(place, op, value):
    if op is EditOp.CREATE or (op is EditOp.SET and isinstance(value, dict | list)):
        return
    made = edited(place, op, value)
    if made is None:
        return
    after, meant = made
    file, node = place[0], place[3]
    assert loaded(after) == meant
    gone, come = kept(FILES[file], after)
    if op is EditOp.SET:
        text = FILES[file].decode()
        mark = len(text) - len(text.removeprefix("\ufeff"))
        token = text[mark + node.start : mark + node.end].encode()
        assert len(gone) <= len(token)
    else:
        kept_part, other = (come, gone) if op is EditOp.DELETE else (gone, come)
        words = [line.strip(b"[]{} ") for line in kept_part.splitlines()]
        assert [word for word in words if word and word not in other] == []


def test_most_places_can_be_edited_so_the_laws_are_not_empty():
    scalars = [place for place in PLACES if place[3].kind is NodeKind.SCALAR]
    done = sum(edited(place, EditOp.SET, "x1") is not None for place in scalars)
    assert done > 0.85 * len(scalars)
