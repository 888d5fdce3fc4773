from itertools import permutations

import pytest

from tocsin_contracts import Alert, CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence import Case
from tocsin_rca.evidence.ranking import COMES_OF, ranked

WEB = ObjectRef(kind="Deployment", namespace="shop", name="web")
API = ObjectRef(kind="Deployment", namespace="shop", name="api")
ALERT = Alert(source="s", fingerprint="f", status="firing", title="T", severity="info")
CASE = Case(ALERT, WEB, WEB, ())


def finding(cause, confidence, about=WEB, *, change=False):
    field = FieldChange(object=about, path=("spec", "x"), old=1, new=2) if change else None
    return Finding(
        cause=cause,
        object=about,
        confidence=confidence,
        summary="s",
        evidence=("e1",),
        change=field,
    )


@pytest.mark.parametrize("symptom", COMES_OF)
def test_a_cause_leads_over_what_comes_of_it_even_if_that_is_surer(symptom):
    cause = finding(CauseClass.SECRET_NOT_FOUND, 0.7)
    assert ranked(CASE, [finding(symptom, 0.89), cause])[0] == cause


def test_a_cause_too_weak_to_explain_anything_does_not_lead():
    weak = finding(CauseClass.SECRET_NOT_FOUND, 0.5)
    symptom = finding(CauseClass.ROLLOUT_STUCK, 0.7)
    assert ranked(CASE, [weak, symptom]) == (symptom, weak)


def test_that_nothing_is_wrong_leads_only_if_it_is_sure():
    error = finding(CauseClass.APP_ERROR, 0.7)
    sure, unsure = (finding(CauseClass.NO_INCIDENT, sureness) for sureness in (0.95, 0.8))
    assert ranked(CASE, [error, sure])[0] == sure
    assert ranked(CASE, [error, unsure])[0] == error


def test_of_two_that_are_nearly_as_sure_the_one_about_the_alert_leads():
    own, other = (
        finding(CauseClass.MISSING_ENV, 0.9),
        finding(CauseClass.SECRET_NOT_FOUND, 0.92, API),
    )
    assert ranked(CASE, [other, own])[0] == own


def test_a_failing_callee_leads_over_the_errors_of_its_caller():
    callee = finding(CauseClass.OOM_KILLED_LIMIT_TOO_LOW, 0.8, API)
    caller = finding(CauseClass.DEPENDENCY_UNREACHABLE, 0.9)
    assert ranked(CASE, [caller, callee])[0] == callee


def test_the_order_does_not_depend_on_who_spoke_first():
    found = [
        finding(CauseClass.ROLLOUT_STUCK, 0.9),
        finding(CauseClass.MISSING_ENV, 0.9),
        finding(CauseClass.MISSING_ENV, 0.9, change=True),
        finding(CauseClass.NO_INCIDENT, 0.5),
    ]
    assert len({ranked(CASE, order) for order in permutations(found)}) == 1
    assert ranked(CASE, found)[0].change
