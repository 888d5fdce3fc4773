from datetime import UTC, datetime

import pytest

from tocsin_contracts import (
    Alert,
    CauseClass,
    EvidenceKind,
    FieldChange,
    Finding,
    Hypothesis,
    ObjectRef,
    Verdict,
)
from tocsin_rca.evidence import Case, InconclusiveReport, conclude, number, observe

WEB = ObjectRef(kind="Deployment", namespace="shop", name="web")
AT = datetime(2026, 3, 2, tzinfo=UTC)
OOM, IMAGE, SERVICE = (
    CauseClass.OOM_KILLED_LIMIT_TOO_LOW,
    CauseClass.IMAGE_TAG_NOT_FOUND,
    CauseClass.SERVICE_SELECTOR_MISMATCH,
)


def finding(confidence, cause=OOM, change=True, evidence=("e1",)):
    field = FieldChange(object=WEB, path=("spec", cause.value), old=1, new=2) if change else None
    return Finding(
        cause=cause,
        object=WEB,
        confidence=confidence,
        summary=f"It is {cause.value}.",
        evidence=evidence,
        change=field,
    )


@pytest.fixture
def case():
    alert = Alert(source="s", fingerprint="f", status="firing", title="T", severity="info")
    kinds = (EvidenceKind.ALERT, EvidenceKind.POD, EvidenceKind.MISSING)
    seen = [observe(kind, source="s", query="q", at=AT, text="t", data=None) for kind in kinds]
    return Case(alert, WEB, WEB, number(seen))


def told(case, *findings, rejected=()):
    return conclude(case, findings, 2, frozenset(rejected))


@pytest.mark.parametrize(
    ("confidence", "verdict"),
    [(0.9, Verdict.CONFIRMED), (0.89, Verdict.LIKELY), (0.6, Verdict.LIKELY)],
)
def test_the_confidence_is_the_verdict(case, confidence, verdict):
    hypothesis = told(case, finding(confidence))
    assert isinstance(hypothesis, Hypothesis)
    assert (hypothesis.verdict, hypothesis.attempt) == (verdict, 2)
    assert [evidence.id for evidence in hypothesis.evidence] == ["e1", "e2", "e3"]


def test_the_strongest_leads_and_the_others_are_alternatives(case):
    weak, strong = finding(0.91), finding(0.95, IMAGE)
    hypothesis = told(case, weak, strong)
    assert hypothesis.finding == strong
    assert hypothesis.alternatives == (weak,)


def test_of_two_that_are_as_sure_the_better_proven_leads_in_any_order(case):
    one, two = finding(0.95, IMAGE), finding(0.95, OOM, evidence=("e1", "e2"))
    assert told(case, one, two).finding == told(case, two, one).finding == two


def test_a_rejected_cause_makes_way_for_the_next(case):
    hypothesis = told(case, finding(0.95), finding(0.7, IMAGE), rejected=[OOM])
    assert hypothesis.finding.cause is IMAGE
    assert hypothesis.alternatives == ()


def test_a_cause_too_weak_is_a_candidate_and_nothing_more(case):
    report = told(case, finding(0.59))
    assert isinstance(report, InconclusiveReport)
    assert report.candidates == (finding(0.59),)
    assert "Too weak to act on (59%): It is oom_killed_limit_too_low." in report.why


def test_a_sure_cause_without_a_right_value_is_not_passed_over_for_a_weaker_one(case):
    report = told(case, finding(0.9, IMAGE, change=False), finding(0.7))
    assert isinstance(report, InconclusiveReport)
    assert "Nothing that was seen says which value would be right." in report.why
    assert len(report.candidates) == 2


def test_nothing_found_says_what_was_looked_at_and_what_was_not_seen(case):
    assert told(case).why == (
        "Looked at Deployment shop/web: 1 pod, 0 events, 0 logs, 0 commits."
        " 1 question got no answer. No cause that the analyzers know fits what was seen."
    )


def test_when_all_is_rejected_the_report_says_so(case):
    report = told(case, finding(0.95), rejected=[OOM, SERVICE])
    assert report.candidates == ()
    assert report.why.endswith("The checks have already rejected oom_killed_limit_too_low.")


@pytest.mark.parametrize(("confidence", "sure"), [(0.9, True), (0.89, False)])
def test_that_nothing_is_wrong_must_be_sure_and_needs_no_change(case, confidence, sure):
    healthy = finding(confidence, CauseClass.NO_INCIDENT, change=False)
    assert isinstance(told(case, healthy), Hypothesis) is sure


def test_what_a_finding_cites_is_shown_however_much_there_is():
    alert = Alert(source="s", fingerprint="f", status="firing", title="T", severity="info")
    many = [
        observe(EvidenceKind.OBJECT, source="s", query="q", at=AT, text="t", data=None)
        for _ in range(500)
    ]
    found = told(Case(alert, WEB, WEB, number(many)), finding(0.9, evidence=("e499",)))
    assert len(found.evidence) < 200
    assert found.evidence[-1].id == "e499"
