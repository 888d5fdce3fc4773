"""`--set FIELD=VALUE`: one edit of the plan, by the end of its path, in the kind it has."""

import pytest

from tocsin_cli.amending import new_values
from tocsin_cli.errors import UsageError
from tocsin_contracts import EditOp
from tocsin_contracts.amending import NewValue
from tocsin_testing import build
from tocsin_testing.values import MEMORY

SPEC = ("spec",)
PLAN = build.plan(
    edits=(
        build.edit(),
        build.edit(path=(*SPEC, "replicas"), old=1, new=3),
        build.edit(path=(*SPEC, "paused"), old=True, new=False),
        build.edit(path=(*SPEC, "ratio"), old=0.5, new=0.7),
        build.edit(path=(*SPEC, "items"), op=EditOp.APPEND, old=None, new="x"),
        build.edit(path=("data", "a.b=c"), old="1", new="2"),
    )
)


@pytest.mark.parametrize(
    ("given", "path", "new"),
    [
        ("memory=384Mi", MEMORY, "384Mi"),
        ("limits.memory=384Mi", MEMORY, "384Mi"),
        (
            "spec.template.spec.containers[name=api].resources.limits.memory=384Mi",
            MEMORY,
            "384Mi",
        ),
        ("memory=a=b", MEMORY, "a=b"),
        ("memory=", MEMORY, ""),
        ("replicas=5", (*SPEC, "replicas"), 5),
        ("paused=true", (*SPEC, "paused"), True),
        ("ratio=0.25", (*SPEC, "ratio"), 0.25),
    ],
)
def test_a_field_is_named_by_the_end_of_its_path(given, path, new):
    assert new_values(PLAN, [given]) == (NewValue(path=path, new=new),)


def test_more_than_one_may_be_given():
    assert [one.new for one in new_values(PLAN, ["memory=1Gi", "replicas=2"])] == ["1Gi", 2]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("memory", "say FIELD=VALUE"),
        ("=5", "say FIELD=VALUE"),
        ("cpu=1", "no field of this plan"),
        ("emory=1", "no field of this plan"),
        ("items=y", "no field of this plan"),
        ("replicas=many", "is no number"),
        ("replicas=1.5", "is no number"),
        ("paused=maybe", "true or false"),
    ],
)
def test_what_names_no_field_or_no_value_says_so(given, why):
    with pytest.raises(UsageError, match=why):
        new_values(PLAN, [given])


def test_a_name_that_two_fields_end_with_is_too_short():
    twice = build.plan(
        edits=(build.edit(), build.edit(path=("spec", "requests", "memory"))),
    )
    with pytest.raises(UsageError, match="more than one field"):
        new_values(twice, ["memory=1Gi"])
    assert len(new_values(twice, ["requests.memory=1Gi"])) == 1
