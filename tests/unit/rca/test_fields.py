from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_rca.evidence.fields import changed_scalars

SCALARS = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b", "1"])
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "name"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def container(name, **fields):
    return {"name": name, **fields}


def test_a_changed_scalar_is_named_by_its_path():
    before = {"spec": {"replicas": 2, "paused": False}}
    after = {"spec": {"replicas": 3, "paused": False}}
    assert changed_scalars(before, after) == ((("spec", "replicas"), 2, 3),)


def test_items_with_names_are_matched_by_name_wherever_they_stand():
    before = [container("app", image="web:1"), container("log", image="log:1")]
    after = [
        container("new", image="new:1"),
        *reversed(before[1:]),
        container("app", image="web:2"),
    ]
    assert (("[name=app]", "image"), "web:1", "web:2") in changed_scalars(before, after)
    assert not [path for path, *_ in changed_scalars(before, after) if path[0] == "[name=log]"]


def test_items_without_names_are_matched_by_position():
    before = {"ports": [{"containerPort": 80}, {"containerPort": 90}]}
    after = {"ports": [{"containerPort": 80}, {"containerPort": 91}]}
    assert changed_scalars(before, after) == ((("ports", 1, "containerPort"), 90, 91),)


def test_what_is_added_had_no_value_and_what_is_removed_has_none():
    before, after = {"a": {"old": 1}}, {"a": {"new": [2]}}
    assert changed_scalars(before, after) == ((("a", "old"), 1, None), (("a", "new", 0), None, 2))


def test_a_number_and_its_text_are_not_the_same():
    assert changed_scalars({"port": 80}, {"port": "80"}) == ((("port",), 80, "80"),)
    assert changed_scalars({"on": 1}, {"on": True}) == ((("on",), 1, True),)


@settings(max_examples=60)
@given(TREES)
def test_nothing_differs_from_itself(tree):
    assert changed_scalars(tree, tree) == ()


@settings(max_examples=80)
@given(TREES, TREES)
def test_the_way_back_is_the_same_way(before, after):
    there, back = changed_scalars(before, after), changed_scalars(after, before)
    assert {(path, repr(old), repr(new)) for path, old, new in there} == {
        (path, repr(old), repr(new)) for path, new, old in back
    }
