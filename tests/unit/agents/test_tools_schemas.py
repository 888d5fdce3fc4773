"""Arguments are checked against a schema that may come from anybody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin_agents.tools.schemas import MOST_MISTAKES, mistakes, usage
from tocsin_kit.errors import PermanentError


@pytest.mark.parametrize(
    "ref",
    [
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "other.json",
        "#named",
        "#/$defs/no",
        5,
    ],
)
def test_a_schema_that_leads_elsewhere_is_refused_and_nothing_is_fetched(ref):
    with pytest.raises(PermanentError, match="of no use"):
        mistakes({"type": "object", "properties": {"a": {"$ref": ref}}}, {"a": 1})


def test_a_schema_may_refer_to_its_own_definitions():
    schema = {
        "properties": {"a": {"$ref": "#/$defs/text"}},
        "$defs": {"text": {"type": "string"}},
    }
    assert mistakes(schema, {"a": "x"}) == ()
    assert mistakes(schema, {"a": 1}) == ('a: type must be "string"',)


@pytest.mark.parametrize(
    "schema", [{"type": 5}, {"properties": []}, {"required": "name"}, {"$ref": "#"}]
)
def test_a_schema_that_is_none_is_a_permanent_error(schema):
    with pytest.raises(PermanentError, match="the schema of its arguments"):
        mistakes(schema, {"a": 1})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "^(a+)+$"}}},
        {"anyOf": [{"additionalProperties": {"pattern": "^(a+)+$"}}]},
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
    ],
)
def test_an_expression_of_somebody_else_is_never_run(schema):
    slow = "a" * 60 + "b"
    assert mistakes(schema, {"a": slow, slow: slow}) == ()


def doubling(**extra):
    """Return a schema of forty lines that takes a million million steps to check."""
    both = {n: [{"$ref": f"#/$defs/d{n + 1}"}] * 2 for n in range(40)}
    defs = {f"d{n}": {"allOf": refs, **extra} for n, refs in both.items()}
    return {"$ref": "#/$defs/d0", "$defs": {**defs, "d40": {}}}


@pytest.mark.parametrize(
    "extra", [{}, {"$schema": "http://json-schema.org/draft-07/schema#"}], ids=["plain", "other"]
)
def test_a_schema_that_takes_for_ever_to_check_is_of_no_use(extra):
    with pytest.raises(PermanentError, match="refers to itself without end"):
        mistakes(doubling(**extra), {"a": 1})


def test_an_argument_may_be_called_pattern():
    schema = {"properties": {"pattern": {"type": "string"}}, "additionalProperties": False}
    assert mistakes(schema, {"pattern": 5}) == ('pattern: type must be "string"',)


def test_only_the_first_mistakes_are_told():
    schema = {"additionalProperties": {"type": "string"}}
    assert len(mistakes(schema, {f"a{n}": n for n in range(50)})) == MOST_MISTAKES


def test_a_mistake_does_not_repeat_what_was_sent():
    (said,) = mistakes({"properties": {"a": {"type": "integer"}}}, {"a": "tulip-7731"})
    assert "tulip" not in said


@given(st.dictionaries(st.text(max_size=5), st.text() | st.integers(), max_size=3))
def test_a_schema_that_asks_for_nothing_is_content_with_anything(arguments):
    assert mistakes({"type": "object"}, arguments) == ()


def test_the_usage_names_types_and_choices():
    schema = {
        "properties": {
            "name": {"type": "string"},
            "how": {"enum": ["short", "long"]},
            "most": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "free": {},
            "odd": True,
        },
        "required": ["name"],
    }
    assert usage(schema) == (
        "name (string, required), how (one of short long), most (integer or null), "
        "free (any), odd (any)"
    )
    assert usage({}) == "no arguments"
