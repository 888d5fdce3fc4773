"""Expressions of silences mean what `re` says they mean, and no label makes one slow."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_ingest.triage.expressions import expression
from tocsin_ingest.triage.matchers import Matcher

ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\.", "^", "$", "ab", "-"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join).map("({})".format),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"])).map(
            lambda both: f"(?:{both[0]}){both[1]}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(EXPRESSIONS, st.text("ab1.-", max_size=6))
def test_an_expression_fits_what_it_fits_elsewhere(written, text):
    assert expression(written).fits(text) == bool(re.fullmatch(written, text))


@pytest.mark.parametrize(
    ("written", "fits", "fits_not"),
    [
        ("critical|page", "page", "pager"),
        ("old-.*", "old-1", "new-old-1"),
        ("(?i)crit(ical)?", "CRITICAL", "CRITIC"),
        ("(?:web|api)-[0-9]{1,3}", "api-12", "api-1234"),
        (r"10\.0\.\d+\.\d+:9100", "10.0.1.2:9100", "10x0.1.2:9100"),
        ("^(?P<env>prod)$", "prod", "prod2"),
        ("", "", "x"),
        (".+", "x", ""),
        ("a{2,}", "aaa", "a"),
        ("a{}", "a{}", "a"),
        ("a{b", "a{b", "ab"),
        (r"[\]x]]", "x]", "x"),
        ("a.b", "a-b", "a\nb"),
        ("(?s)a.b", "a\nb", "ab"),
        ("(|a)+", "aa", "b"),
        (r".*\bword\b.*", "a word more", "swords"),
        ("(?i:a)b", "Ab", "AB"),
    ],
)
def test_what_people_write_means_what_they_mean(written, fits, fits_not):
    assert expression(written).fits(fits)
    assert not expression(written).fits(fits_not)


@pytest.mark.parametrize(
    "written",
    ["(a+)+b", "(a|a)*b", "(a*)*b", "(.*a){20}b", ".*a.*a.*a.*a.*a.*b", "(?:a?){50}a{50}b"],
)
def test_no_label_makes_an_expression_slow(written):
    matcher = Matcher.model_validate({"name": "x", "op": "=~", "value": written})
    began = time.process_time()
    assert not matcher.matches({"x": "a" * 4096})
    assert time.process_time() - began < 5


@pytest.mark.parametrize("written", ["(", "a**b(", r"(a)\1", "(?=a)b", "(?!a)b", "(?<=a)b"])
def test_what_is_no_expression_says_why(written):
    with pytest.raises(ValueError, match=r"no expression: .*: .+"):
        expression(written)


@pytest.mark.parametrize("written", ["a{1000}{1000}", "(?:a{500}){500}"])
def test_an_expression_that_needs_too_much_memory_is_none(written):
    with pytest.raises(ValueError, match="no expression"):
        expression(written)
