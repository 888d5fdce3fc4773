import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts import Edit, EditOp, ObjectRef
from tocsin_gitops.editing import EditRefused, apply, unified_diff

APP = ObjectRef(kind="Deployment", namespace="shop", name="app")
TWO = b"""\
kind: Service
metadata: {name: app, namespace: shop}
spec: {replicas: 1}
---
kind: Deployment
metadata: {name: app, namespace: shop}
spec: {replicas: 1}
---
kind: Deployment
metadata: {name: app, namespace: test}
spec: {replicas: 1}
"""


def scale(document: ObjectRef | None = APP, old: int = 1, new: int = 2, file: str = "a.yaml"):
    return Edit(file=file, document=document, path=("spec", "replicas"), old=old, new=new)


def test_only_the_document_that_is_named_changes():
    after = apply({"a.yaml": TWO}, [scale()])["a.yaml"].split(b"---")
    assert [b"replicas: 2" in part for part in after] == [False, True, False]


def test_only_touched_files_come_back():
    assert set(apply({"a.yaml": TWO, "b.yaml": TWO}, [scale()])) == {"a.yaml"}


def test_edits_of_one_file_build_on_each_other():
    after = apply({"a.yaml": TWO}, [scale(), scale(old=2, new=3)])
    assert b"replicas: 3" in after["a.yaml"]


def test_a_document_without_a_namespace_is_found_by_kind_and_name():
    assert apply({"a.yaml": TWO.replace(b", namespace: shop", b"")}, [scale()])


def test_two_documents_that_could_be_meant_are_refused():
    both = TWO + b"---\nkind: Deployment\nmetadata: {name: app}\nspec: {replicas: 1}\n"
    with pytest.raises(EditRefused, match="2 documents"):
        apply({"a.yaml": both}, [scale()])


def test_a_reference_without_a_namespace_never_means_a_document_with_one():
    with pytest.raises(EditRefused, match="no document"):
        apply({"a.yaml": TWO}, [scale(ObjectRef(kind="Deployment", name="app"))])


def test_a_kustomization_without_kind_and_name_is_found_by_its_file():
    edit = Edit(
        file="prod/kustomization.yaml",
        document=ObjectRef(kind="Kustomization", name=""),
        path=("images", "[name=app]", "newTag"),
        old="1.0",
        new="1.1",
    )
    before = {edit.file: b'images:\n- name: app\n  newTag: "1.0"\n'}
    assert apply(before, [edit]) == {edit.file: b'images:\n- name: app\n  newTag: "1.1"\n'}


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (scale(old=7), "the file moved on"),
        (scale(file="z.yaml"), "no such file"),
        (scale(document=None), "which document"),
        (Edit(file="a.yaml", op=EditOp.CREATE, new="x"), "there already"),
        (Edit(file="n.md", op=EditOp.CREATE, new=3), "text"),
    ],
)
def test_an_edit_that_does_not_fit_the_file_is_refused_by_name(edit, why):
    with pytest.raises(EditRefused, match=why) as refused:
        apply({"a.yaml": TWO}, [edit])
    assert repr(edit.file) in str(refused.value)


def test_a_proposal_becomes_a_new_file():
    edit = Edit(file="remediations/a.md", op=EditOp.CREATE, new="# Grüße\n")
    assert apply({}, [edit]) == {"remediations/a.md": "# Grüße\n".encode()}


def test_the_diff_reads_like_one_of_git():
    before = {"a.yaml": b"a\nb\nc\nd\ne\nf\ng\nh\n", "same.yaml": b"x"}
    after = {"a.yaml": b"a\nb\nc\nd\nE\nf\ng\nh\n", "same.yaml": b"x", "new.md": b"hi\nyou"}
    assert unified_diff(before, after) == (
        "diff --git a/a.yaml b/a.yaml\n"
        "--- a/a.yaml\n"
        "+++ b/a.yaml\n"
        "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n"
        "diff --git a/new.md b/new.md\n"
        "new file mode 100644\n"
        "--- /dev/null\n"
        "+++ b/new.md\n"
        "@@ -0,0 +1,2 @@\n+hi\n+you\n\\ No newline at end of file\n"
    )


def test_a_missing_final_line_end_is_said_on_both_sides():
    diff = unified_diff({"a": b"x: 1"}, {"a": b"x: 2"})
    assert diff.endswith(
        "-x: 1\n\\ No newline at end of file\n+x: 2\n\\ No newline at end of file\n"
    )


def test_one_changed_line_among_thousands_of_equal_ones_is_one_line_of_diff():
    lines = [b"same"] * 20_000
    after = [*lines[:9_000], b"other", *lines[9_001:]]
    diff = unified_diff({"a": b"\n".join(lines)}, {"a": b"\n".join(after)})
    changed = [line for line in diff.splitlines()[3:] if line[0] in "+-"]
    assert changed == ["-same", "+other"]


LINES = st.lists(st.sampled_from(["a", "b", "c: 1", "", "  d\r"]), max_size=14).map("\n".join)


@settings(max_examples=20, deadline=None)
@given(LINES, LINES, st.booleans())
def test_git_applies_the_diff_and_arrives_at_the_same_bytes(tmp_path_factory, old, new, end):
    before = {"f/a.yaml": (old + "\n" * end).encode()} if old else {}
    after = {"f/a.yaml": new.encode()}
    diff = unified_diff(before, after)
    if not diff:
        return
    folder = tmp_path_factory.mktemp("apply")
    for path, data in before.items():
        (folder / path).parent.mkdir()
        (folder / path).write_bytes(data)
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"]
    subprocess.run(command, input=diff.encode(), cwd=folder, check=True)
    assert (folder / "f/a.yaml").read_bytes() == after["f/a.yaml"]
