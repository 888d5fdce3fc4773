"""Edits on another version of their file, and edits turned round."""

import pytest

from tocsin_contracts import EditOp
from tocsin_gitops import editing
from tocsin_gitops.carrying import carried, inverse
from tocsin_gitops.editing import EditRefused
from tocsin_testing import build

FILE = build.edit().file
PATH = build.edit().path
TEMPLATE = """\
kind: Deployment
metadata:
  name: payments-api
  namespace: payments
spec:
  template:
    spec:
      containers:
        - name: api
          args: [serve, --fast]
          resources:
            limits:
              memory: "{memory}"  # be careful
"""


def at(memory: str) -> dict[str, bytes]:
    return {FILE: TEMPLATE.format(memory=memory).encode()}


CPU = (*PATH[:-1], "cpu")
ARGS = (*PATH[:-3], "args")


@pytest.mark.parametrize(
    ("held", "left"),
    [
        ("128Mi", "128Mi"),
        ("192Mi", "192Mi"),
        ("256Mi", None),
        ("0.25Gi", None),
        ("512Mi", None),
        ("64Mi", "64Mi"),
    ],
)
def test_a_value_is_lacking_unless_the_file_goes_at_least_as_far(held, left):
    edits = carried((build.edit(old="128Mi", new="256Mi"),), at(held))
    assert [edit.old for edit in edits] == ([left] if left else [])
    assert (
        b'memory: "256Mi"  # be careful' in {**at("256Mi"), **editing.apply(at(held), edits)}[FILE]
    )


def test_what_is_lowered_is_there_where_it_is_lower_still():
    lower = (build.edit(old="512Mi", new="256Mi"),)
    assert carried(lower, at("128Mi")) == ()
    assert carried(lower, at("512Mi")) == lower


def test_a_field_to_add_is_lacking_there_or_something_else():
    add = build.edit(op=EditOp.INSERT, path=CPU, old=None, new="100m")
    added = editing.apply(at("128Mi"), (add,))
    assert carried((add,), at("128Mi")) == (add,)
    assert carried((add,), added) == ()
    with pytest.raises(EditRefused, match="holds something else"):
        carried((add.model_copy(update={"new": "200m"}),), added)


def test_a_field_to_take_away_is_gone_there_or_something_else():
    away = build.edit(op=EditOp.DELETE, old="128Mi", new=None)
    assert carried((away,), at("128Mi")) == (away,)
    assert carried((away,), editing.apply(at("128Mi"), (away,))) == ()
    with pytest.raises(EditRefused, match="holds something else"):
        carried((away,), at("256Mi"))


def test_an_item_goes_onto_the_list_as_it_is_now():
    item = build.edit(op=EditOp.APPEND, path=ARGS, old=None, old_tree=["serve"], new="--slow")
    (edit,) = carried((item,), at("128Mi"))
    assert edit.before == ["serve", "--fast"]
    assert carried((item.model_copy(update={"new": "--fast"}),), at("128Mi")) == ()


def test_a_new_file_is_there_lacking_or_says_something_else():
    new = build.edit(
        op=EditOp.CREATE, file="remediations/a.md", document=None, path=(), new="# a\n"
    )
    assert carried((new,), {}) == (new,)
    assert carried((new,), {new.file: b"# a\n"}) == ()
    with pytest.raises(EditRefused, match="says something else"):
        carried((new,), {new.file: b"# b\n"})


@pytest.mark.parametrize(
    ("files", "why"),
    [({}, "is not there"), ({FILE: b"kind: Service\nmetadata: {name: x}\n"}, "no document is")],
    ids=["no file", "no document"],
)
def test_what_is_gone_stands_in_the_way(files, why):
    with pytest.raises(EditRefused, match=why):
        carried((build.edit(),), files)


def test_edits_are_carried_one_on_top_of_the_other():
    first, second = build.edit(new="256Mi"), build.edit(old="256Mi", new="512Mi")
    assert carried((first, second), at("128Mi")) == (first, second)


@pytest.mark.parametrize(
    "edits",
    [
        (build.edit(),),
        (build.edit(op=EditOp.INSERT, path=CPU, old=None, new="100m"),),
        (build.edit(), build.edit(op=EditOp.INSERT, path=CPU, old=None, new="100m")),
    ],
    ids=["set", "insert", "both"],
)
def test_the_inverse_brings_back_every_byte(edits):
    after = editing.apply(at("128Mi"), edits)
    assert editing.apply(after, inverse(edits)) == at("128Mi")


@pytest.mark.parametrize("op", [EditOp.CREATE, EditOp.APPEND, EditOp.DELETE])
def test_what_cannot_be_turned_round_is_refused(op):
    with pytest.raises(EditRefused, match="no exact undo"):
        inverse((build.edit(op=op),))
