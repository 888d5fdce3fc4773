"""What an operator's rule approves without a person, and what no rule ever does."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tocsin_contracts import CheckVerdict, EditOp, FieldChange, Intent, Risk, Verdict
from tocsin_gitops import hashing
from tocsin_gitops.auto_approval import AutoApproval, Case, refusal
from tocsin_testing import build
from tocsin_testing.event_fields import REMARK

FIELD = "spec.template.spec.containers[name=*].resources.limits.memory"
RULE = {
    "name": "memory-up",
    "alerts": "routine",
    "environments": ["staging"],
    "repositories": ["shop/platform-gitops"],
    "paths": ["apps/**"],
    "op": "set",
    "fields": [FIELD],
    "least": "64Mi",
    "most": "1Gi",
    "factor": 2,
}


def rule(**changes):
    return AutoApproval.model_validate(RULE | changes)


def case(plan=None, **changes):
    known = {
        "plan": build.plan(checks=(build.check(),)) if plan is None else plan,
        "hypothesis": build.hypothesis(verdict=Verdict.CONFIRMED),
        "alerts": "routine",
        "environment": "staging",
        "freeze": "",
    }
    return Case(**(known | changes))


def planned(**changes):
    return build.plan(**({"checks": (build.check(),)} | changes))


def edited(**changes):
    return planned(edits=(build.edit(**changes),))


def test_a_rule_approves_what_it_names():
    assert refusal(rule(), case()) == ""


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"alerts": "another"}, "another class"),
        ({"environments": ["dev"]}, "environment 'staging'"),
        ({"repositories": ["shop/other"]}, "repository"),
        ({"repositories": ["shop/platform-gitop"]}, "repository"),
        ({"paths": ["apps/*"]}, "the file"),
        ({"paths": ["other/**"]}, "the file"),
        ({"fields": ["spec.replicas"]}, "the field"),
        ({"fields": ["spec.template.spec.*"]}, "the field"),
        ({"fields": [FIELD.removeprefix("spec.")]}, "the field"),
        ({"most": "255Mi"}, "is not from"),
        ({"least": "257Mi"}, "is not from"),
        ({"factor": 1}, "within 1 times"),
    ],
)
def test_p3_a_rule_that_does_not_name_all_of_it_approves_nothing(changes, why):
    assert why in refusal(rule(**changes), case())


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"hypothesis": build.hypothesis(verdict=Verdict.LIKELY)}, "not confirmed"),
        ({"hypothesis": build.hypothesis(verdict=Verdict.INCONCLUSIVE)}, "not confirmed"),
        ({"hypothesis": build.hypothesis(verdict=Verdict.CONFIRMED, remark=REMARK)}, "a comment"),
        ({"plan": planned(checks=())}, "no check has run"),
        ({"plan": planned(checks=(build.check(verdict=CheckVerdict.UNKNOWN),))}, "says unknown"),
        (
            {"plan": planned(checks=(build.check(), build.check(verdict=CheckVerdict.FAIL)))},
            "says fail",
        ),
        ({"plan": planned(risk=Risk.HIGH)}, "risk is high"),
        ({"plan": planned(edits=())}, "changes nothing"),
        ({"plan": planned(issue_key=hashing.undo_key("a|b"))}, "it is an undo"),
        ({"plan": planned(intent=Intent.INCREMENT)}, "adds to a pull request"),
        ({"freeze": "year end"}, "year end"),
        ({"alerts": ""}, "another class"),
        ({"environment": ""}, "environment ''"),
        ({"plan": edited(op=EditOp.INSERT)}, "not just set"),
        ({"plan": edited(undo_of="a" * 40)}, "not just set"),
        ({"plan": edited(new="latest")}, "no quantity"),
        ({"plan": edited(old=None)}, "no quantity"),
        ({"plan": edited(file="apps/../secrets.yaml", new="2Gi")}, "is not from"),
        ({"plan": planned(edits=(build.edit(), build.edit(file="x.yaml")))}, "'x.yaml'"),
    ],
)
def test_p3_what_is_unsure_unsafe_or_not_bounded_is_for_people(changes, why):
    assert why in refusal(rule(), case(**changes))


def test_p3_a_value_of_a_chart_is_for_people():
    change = FieldChange.model_validate(build.field_change().model_dump())
    assert "not just set" in refusal(rule(), case(edited(renders=change)))


@pytest.mark.parametrize(
    "changes",
    [
        {"op": "delete"},
        {"environments": []},
        {"repositories": []},
        {"paths": []},
        {"fields": []},
        {"alerts": " "},
        {"most": "much"},
        {"factor": 0},
        {"name": "Memory: up"},
        {"verdict": "likely"},
    ],
)
def test_a_rule_that_is_wide_by_mistake_is_refused_by_name(changes):
    with pytest.raises(ValidationError):
        rule(**changes)


@pytest.mark.parametrize("left_out", RULE)
def test_nothing_about_a_rule_has_a_default(left_out):
    with pytest.raises(ValidationError):
        AutoApproval.model_validate({name: RULE[name] for name in RULE if name != left_out})


@settings(max_examples=100)
@given(st.integers(1, 4096), st.integers(1, 4096))
def test_p3_whatever_is_approved_is_within_every_bound(old, new):
    why = refusal(rule(), case(edited(old=f"{old}Mi", new=f"{new}Mi")))
    within = 64 <= new <= 1024 and new <= 2 * old and old <= 2 * new
    assert (why == "") is within
