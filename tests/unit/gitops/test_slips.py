"""Slips in how containers start and in rules: which can be put right, and which are left alone."""

import pytest

from tocsin_contracts import Edit, ObjectRef
from tocsin_gitops import programs, promql, scripts
from tocsin_gitops.policy import Change, RepositoryRule, Rule, WritePolicy, judge
from tocsin_gitops.splice import set_scalar
from tocsin_gitops.yaml_nodes import EditRefused

POLICY = WritePolicy(repositories=(RepositoryRule(name="shop/gitops", paths=("apps/**",)),))
START = ("spec", "template", "spec", "containers", "[name=api]", "args", 0)
EXPRESSION = ("spec", "groups", 0, "rules", 0, "expr")


def broken(old, new, path=START, kind="Deployment") -> set[Rule]:
    document = ObjectRef(kind=kind, name="api")
    edit = Edit(file="apps/a.yaml", document=document, path=path, old=old, new=new)
    files = {"before": {edit.file: b"a: 1\n"}, "after": {edit.file: b"a: 2\n"}}
    modes = {edit.file: "100644"}
    change = Change(repo="shop/gitops", edits=(edit,), modes=modes, **files)
    return {violation.rule for violation in judge(POLICY, change)}


@pytest.mark.parametrize(
    ("word", "program"),
    [
        ("wge", "wget"),
        ("ngInx", "nginx"),
        ("crul", "curl"),
        ("slep", "sleep"),
        ("pythn", "python"),
        ("gunicron", "gunicorn"),
    ],
)
def test_a_slip_of_one_letter_means_the_only_program_that_it_is_near(word, program):
    assert programs.meant(word) == program


@pytest.mark.parametrize(
    "word", ["bsh", "pip3", "mongos", "ncat", "zcat", "nodes", "serve", "invalid-command", "ls", ""]
)
def test_a_program_of_its_own_or_a_word_near_several_is_no_slip(word):
    assert programs.meant(word) is None


def test_only_the_word_that_a_command_begins_with_is_put_right():
    assert programs.respelt("cd /x && wge -O - http://y", "wge") == "cd /x && wget -O - http://y"
    assert programs.respelt("run --with wge", "wge") is None
    assert programs.respelt("wge a; wge b", "wge") is None
    assert programs.respelt("/opt/wge a", "wge") is None


@pytest.mark.parametrize(
    ("script", "rest"),
    [
        ("while true; do sleep 10;done; fi", "while true; do sleep 10;done"),
        ("serve; done", "serve"),
    ],
)
def test_a_last_word_that_closes_nothing_goes(script, rest):
    assert scripts.closed(script) == (rest, script.split()[-1])


@pytest.mark.parametrize(
    "script",
    [
        "if a; then b; fi",
        "for a in b; do c; done",
        "echo 'if'; fi; fi",
        "fi; serve",
        "serve",
        "; fi",
    ],
)
def test_any_other_script_is_left_as_it_is(script):
    assert scripts.closed(script) is None


def test_a_division_that_matches_many_with_many_is_summed_on_both_sides():
    old = 'rate(errors_total{code=~"5.."}[5m]) / on (shop) rate(requests_total[5m]) > 0.05'
    new = promql.summed(old)
    assert new == (
        'sum by (shop) (rate(errors_total{code=~"5.."}[5m])) / on (shop)'
        " sum by (shop) (rate(requests_total[5m])) > 0.05"
    )


def test_with_group_left_only_the_right_side_is_summed_and_lends_no_labels():
    old = "used:rate{a='b'} / on(ns)  group_left(node, pod) used:rate{a='b'}\n"
    new = "used:rate{a='b'} / on (ns) group_left () sum by (ns) (used:rate{a='b'})\n"
    assert promql.summed(old) == new


@pytest.mark.parametrize(
    "expression",
    [
        "a * on (x) group_left (y) b",
        "sum(a) / on (x) b",
        "a / b",
        "a / on (x) group_right (y) b",
        "a / on (x) b + c",
        "a / on (x) b or vector(1)",
        "a / on (x) max(b)",
    ],
)
def test_an_expression_of_which_a_sum_may_change_the_meaning_is_left_alone(expression):
    assert promql.summed(expression) is None


def test_the_policy_allows_a_slip_to_be_put_right_and_nothing_beside_it():
    assert broken("wge -O x", "wget -O x") == set()
    assert broken("wge -O x", "wget -O y") == {Rule.BOUND}
    assert broken("serve", "serve --unsafe") == {Rule.BOUND}
    assert broken("a; fi", "a") == set()
    assert broken("a; fi", "b") == {Rule.BOUND}
    assert broken(1, 2) == {Rule.BOUND}


def test_the_policy_allows_a_rule_its_sums_and_nothing_else():
    old = "a / on (x) b"
    summed = promql.summed(old)
    assert broken(old, summed, EXPRESSION, "PrometheusRule") == set()
    assert broken(old, "vector(0)", EXPRESSION, "PrometheusRule") == {Rule.BOUND}
    assert broken("vector(1)", None, EXPRESSION, "PrometheusRule") == {Rule.BOUND}


def test_a_literal_block_is_rewritten_with_its_indentation_and_ending():
    data = b"a:\n  expr: |\n   one\n   two\n  other: x\n"
    after = b"a:\n  expr: |\n   three\n  other: x\n"
    assert set_scalar(data, 0, ("a", "expr"), "one\ntwo\n", "three\n") == after


def test_a_block_without_a_last_line_end_stays_without():
    assert set_scalar(b"a: |-\n  one\nb: 1\n", 0, ("a",), "one", "two") == b"a: |-\n  two\nb: 1\n"


@pytest.mark.parametrize(
    ("data", "new"),
    [
        (b"a: >\n  one\n", "two\n"),
        (b"a: |2\n  one\n", "two\n"),
        (b"a: |\n  one\n", "two"),
        (b"a: |\n  one\n", " two\n"),
        (b"a: |\n  one\n", "two\x07\n"),
    ],
)
def test_a_block_that_would_not_read_back_is_refused(data, new):
    with pytest.raises(EditRefused):
        set_scalar(data, 0, ("a",), "one\n", new)
