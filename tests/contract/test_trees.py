import pytest
from pydantic import ValidationError

from tocsin_contracts import ChangeOp
from tocsin_testing import build


@pytest.mark.parametrize(
    "tree",
    [["x"] * 256, "x" * 4097, {"a": "x" * 4096}, [[[[[[[[["deep"]]]]]]]]]],
    ids=["many", "long", "long with its key", "deep"],
)
def test_a_value_that_is_no_small_part_of_a_manifest_is_refused(tree):
    with pytest.raises(ValidationError, match="256 values, 8 levels or 4096 characters"):
        build.field_change(op=ChangeOp.INSERT, old=None, new=None, new_tree=tree)


def test_a_change_says_its_values_whether_they_are_scalars_or_more():
    scalar = build.field_change(old=1, new=0)
    assert (scalar.before, scalar.after) == (1, 0)
    more = build.field_change(old=None, new=None, old_tree=[], new_tree={"port": 53})
    assert (more.before, more.after) == ([], {"port": 53})
    assert type(more).model_validate_json(more.model_dump_json()) == more


def test_a_finding_names_all_that_has_to_change_the_first_change_first():
    first, second = build.field_change(), build.field_change(path=("spec", "replicas"))
    assert build.finding(change=first, further=(second,)).changes == (first, second)
    assert build.finding(change=None).changes == ()
