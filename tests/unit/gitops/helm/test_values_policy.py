"""A value of a chart is judged by what it makes of an object, and a template is never written."""

import pytest

from tocsin_contracts import ChangeOp, Edit, EditOp, FieldChange, ObjectRef
from tocsin_gitops.carrying import inverse
from tocsin_gitops.editing import EditRefused, apply
from tocsin_gitops.manifests import VALUES
from tocsin_gitops.policy import Change, RepositoryRule, WritePolicy, judge

FILE = "charts/web/values.yaml"
TEXT = b"replicaCount: 2\nresources:\n  limits:\n    memory: 128Mi\n"
POLICY = WritePolicy(repositories=(RepositoryRule(name="shop/gitops", paths=("**/*.yaml",)),))
WEB = ObjectRef(kind="Deployment", namespace="shop", name="web")
MEMORY = ("spec", "template", "spec", "containers", "[name=web]", "resources", "limits", "memory")


def edit(**more):
    made = FieldChange(object=WEB, path=MEMORY, old="128Mi", new=more.get("new", "256Mi"))
    usual = {
        "file": FILE,
        "document": ObjectRef(kind=VALUES, name=more.get("file", FILE)),
        "path": ("resources", "limits", "memory"),
        "old": "128Mi",
        "new": "256Mi",
        "renders": made,
    }
    return Edit(**usual | more)


def broken(one, text=TEXT):
    before = {one.file: text}
    try:
        after = apply(before, (one,))
    except EditRefused:
        after = before
    modes = {one.file: "100644"}
    change = Change("shop/gitops", (one,), before, after, modes)
    return [violation.detail for violation in judge(POLICY, change)]


def test_a_value_may_change_as_far_as_the_field_it_makes():
    assert broken(edit()) == []
    assert any("memory" in why for why in broken(edit(new="900Gi")))


def test_a_value_that_is_for_no_object_never_changes():
    assert broken(edit(renders=None)) == ["a file of values changes only for an object"]


def test_what_is_written_has_to_be_what_the_object_is_to_have():
    made = edit().renders
    assert any("is no part of" in why for why in broken(edit(new="512Mi", renders=made)))


def test_a_field_that_may_not_change_may_not_through_a_value_either():
    secret = FieldChange(
        object=ObjectRef(kind="Secret", namespace="shop", name="web"),
        path=("data", "password"),
        old="128Mi",
        new="256Mi",
    )
    assert broken(edit(renders=secret)) == ["objects of kind 'Secret' are never changed"]


@pytest.mark.parametrize("kind", ["HelmRelease", "Application", "StatefulSet"])
def test_of_an_object_only_the_values_of_a_chart_are_changed_for_another(kind):
    text = (f"kind: {kind}\nmetadata: {{name: web}}\nspec: {{suspend: 128Mi}}\n").encode()
    named = ObjectRef(kind=kind, name="web")
    one = edit(file="apps/web.yaml", document=named, path=("spec", "suspend"))
    assert broken(one, text) == [f"{kind!r} holds no values of a chart there"]


@pytest.mark.parametrize(
    "path", ["charts/web/templates/web.yaml", "Templates/values.yaml", "a/templates/b/c.yaml"]
)
def test_nothing_below_templates_is_ever_written(path):
    assert any("template of a chart" in why for why in broken(edit(file=path)))


def test_what_a_value_made_is_taken_back_by_the_old_value():
    (back,) = inverse((edit(),))
    assert (back.new, back.renders.old, back.renders.new) == ("128Mi", "256Mi", "128Mi")
    assert apply(apply({FILE: TEXT}, (edit(),)), (back,)) == {FILE: TEXT}


def test_a_value_that_was_set_in_place_of_a_default_goes_again():
    made = FieldChange(object=WEB, path=MEMORY, old="128Mi", new="256Mi")
    put = edit(op=EditOp.INSERT, path=("memory",), old=None, renders=made)
    (back,) = inverse((put,))
    assert (back.op, back.renders.op) == (EditOp.DELETE, ChangeOp.SET)
    assert apply(apply({FILE: TEXT}, (put,)), (back,)) == {FILE: TEXT}


def test_an_item_of_a_list_has_no_exact_undo():
    made = edit().renders.model_copy(update={"op": ChangeOp.APPEND})
    with pytest.raises(EditRefused, match="no exact undo"):
        inverse((edit(renders=made),))
