"""What becomes of a model's result: pure, whatever the model says."""

import pytest

from tocsin_agents.callbacks import Step
from tocsin_agents.messages import ToolCall
from tocsin_agents.state import State
from tocsin_agents.tools import results
from tocsin_agents.tools.port import Status, ToolResult
from tocsin_contracts import (
    CauseClass,
    ChangeOp,
    EvidenceKind,
    FieldChange,
    HypothesisFormed,
    InvestigationInconclusive,
    ObjectRef,
    Rejection,
    Verdict,
)
from tocsin_rca.evidence.conclusion import DECISIVE, MOST_EVIDENCE
from tocsin_rca.investigation import fields
from tocsin_rca.investigation.checking import flaws
from tocsin_rca.investigation.fields import FieldSeen, is_founded, value_at
from tocsin_rca.investigation.gathering import Gathering, rendered, sighted
from tocsin_rca.investigation.judging import CONFIDENCE, Gathered, judged
from tocsin_rca.investigation.known import Known
from tocsin_rca.investigation.submission import Submission
from tocsin_rca.investigation.telling import Clusters, told
from tocsin_testing import build
from tocsin_testing.agents import ANA
from tocsin_testing.build import NOW
from tocsin_testing.investigating import HELD_BEFORE, MEMORY, NOW_HELD, WEB, submission

OOM, LEAK = CauseClass.OOM_KILLED_LIMIT_TOO_LOW, CauseClass.MEMORY_LEAK
CHANGE = FieldChange(object=WEB, path=MEMORY, old=NOW_HELD, new=HELD_BEFORE)
SEEN = build.evidence(id="e1", kind=EvidenceKind.LOG)
UNSEEN = build.evidence(id="e2", kind=EvidenceKind.MISSING)


def finding(**changes):
    given = {"cause": LEAK, "object": WEB, "confidence": 0.7, "evidence": ("e1",), "change": None}
    return build.finding(**(given | changes))


def known(*findings, **changes):
    answer = InvestigationInconclusive(
        run_id="r1", alert=build.alert(), why="Why.", evidence=(SEEN, UNSEEN), candidates=findings
    )
    given = {"answer": answer, "attempt": 1, "objects": frozenset([WEB]), "rejections": ()}
    return Known(**(given | {"since": NOW} | changes))


def formed(*findings):
    hypothesis = build.hypothesis(finding=findings[0], alternatives=findings[1:], evidence=(SEEN,))
    return HypothesisFormed(run_id="r1", alert=build.alert(), hypothesis=hypothesis)


def result(**changes):
    return Submission.model_validate(submission(**changes))


def judge(before, *, change=CHANGE, **changes):
    return judged(before, result(**changes), Gathered((), change, ("e1",) if change else ()))


def test_no_word_of_a_model_is_decisive():
    assert max(CONFIDENCE.values()) < DECISIVE


@pytest.mark.parametrize("verdict", ["likely", "confirmed"])
def test_a_stronger_finding_stands_while_nothing_contradicts_it(verdict):
    answer = judge(known(finding(confidence=0.8)), verdict=verdict)
    assert isinstance(answer, InvestigationInconclusive)
    assert "cites nothing that contradicts memory_leak" in answer.why
    assert [one.cause for one in answer.candidates] == [LEAK, OOM]


def test_a_stronger_hypothesis_stands_with_the_models_view_as_an_alternative():
    strong = finding(confidence=0.8, change=CHANGE)
    answer = judge(known(answer=formed(strong)))
    assert answer.hypothesis.finding == strong
    assert [one.cause for one in answer.hypothesis.alternatives] == [OOM]


def test_a_contradiction_that_cites_evidence_overrules():
    against = [{"cause": LEAK.value, "why": "It does not grow.", "evidence": ["e1"]}]
    answer = judge(known(finding(confidence=0.8)), contradictions=against)
    assert answer.hypothesis.finding.cause is OOM
    assert [one.cause for one in answer.hypothesis.alternatives] == [LEAK]
    assert "Not memory_leak: It does not grow. [e1]" in answer.hypothesis.finding.because


@pytest.mark.parametrize(
    ("cause", "cites"),
    [(OOM, ["e1"]), (LEAK, ["e2"])],
    ids=["of another finding", "by what nobody saw"],
)
def test_a_contradiction_that_shows_nothing_overrules_nothing(cause, cites):
    against = [{"cause": cause.value, "why": "No.", "evidence": cites}]
    answer = judge(known(finding(confidence=0.8)), contradictions=against)
    assert isinstance(answer, InvestigationInconclusive)


def test_a_weaker_finding_is_an_alternative():
    answer = judge(known(finding(confidence=0.5)))
    assert answer.hypothesis.finding.cause is OOM


def test_a_finding_that_follows_from_the_same_one_needs_no_contradiction():
    same, consequence = finding(cause=OOM, confidence=0.65), finding(confidence=0.8)
    assert judge(known(same, consequence)).hypothesis.finding.cause is OOM


def test_what_analyzers_found_too_keeps_their_value():
    own = CHANGE.model_copy(update={"new": "256Mi"})
    answer = judge(known(finding(cause=OOM, change=own)), verdict="confirmed")
    assert answer.hypothesis.finding.change == own
    assert answer.hypothesis.verdict is Verdict.CONFIRMED


def test_all_that_has_to_change_together_stays_together():
    other = FieldChange(object=WEB, path=("spec", "replicas"), old=0, new=1)
    own = finding(cause=OOM, change=CHANGE, further=(other,))
    assert judge(known(own), change=None).hypothesis.finding.changes == (CHANGE, other)


def test_weak_analyzers_confirm_nothing():
    answer = judge(known(finding(cause=OOM, confidence=0.5)), verdict="confirmed")
    assert answer.hypothesis.verdict is Verdict.LIKELY


def test_an_unsure_model_changes_nothing():
    strong = finding(change=CHANGE)
    answer = judge(known(answer=formed(strong)), verdict="inconclusive")
    assert answer.hypothesis.finding == strong
    assert "not sure" in judge(known(), verdict="inconclusive").why


def test_without_a_value_a_person_takes_over():
    answer = judge(known(), change=None)
    assert isinstance(answer, InvestigationInconclusive)
    assert answer.candidates[0].cause is OOM


def test_a_model_alone_does_not_decide_that_nothing_is_wrong():
    answer = judge(known(), cause="no_incident")
    assert isinstance(answer, InvestigationInconclusive)
    assert "A model alone" in answer.why


def test_what_a_model_says_is_one_line_without_secrets():
    answer = judge(known(), summary="It\nis password=hunter22secret here.")
    assert "\n" not in answer.hypothesis.finding.summary
    assert "hunter22secret" not in answer.hypothesis.finding.summary


def test_an_event_keeps_what_is_cited_however_much_was_seen():
    many = tuple(build.evidence(id=f"m{n}") for n in range(200))
    claims = [{"text": "So it is.", "evidence": ["m199"]}]
    answer = judged(known(), result(claims=claims), Gathered(many, CHANGE, ("e1",)))
    assert len(answer.hypothesis.evidence) == MOST_EVIDENCE
    assert answer.hypothesis.evidence[-1].id == "m199"


def check(**changes):
    given = {"evidence": ["e1"], "objects": [str(WEB)], "rejected": ()}
    return flaws(result(**changes), **given)


def test_a_right_result_has_no_flaw():
    assert check() is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claims": [{"text": "So.", "evidence": ["e9"]}]}, "no evidence e9"),
        ({"claims": [{"text": "So.", "evidence": []}]}, "cites no evidence"),
        ({"object": {"kind": "Pod", "name": "x"}}, "'Pod x'"),
        (
            {"contradictions": [{"cause": LEAK.value, "why": "No.", "evidence": ["e8"]}]},
            "no evidence e8",
        ),
        ({"change": submission()["change"] | {"object": {"kind": "Pod", "name": "y"}}}, "'Pod y'"),
    ],
)
def test_every_flaw_says_what_to_do(changes, said):
    assert said in check(**changes)


def test_a_cause_that_checks_ruled_out_is_a_flaw():
    assert "ruled out" in flaws(result(), evidence=["e1"], objects=[str(WEB)], rejected=[OOM])


def test_an_unsure_model_may_name_what_it_likes():
    assert check(verdict="inconclusive", object={"kind": "Pod", "name": "x"}) is None


def founded(new, *evidence, old="a", held="a", before=()):
    change = CHANGE.model_copy(update={"old": old, "new": new})
    return is_founded(change, FieldSeen(held, before), evidence)


def excerpt(text, kind=EvidenceKind.OBJECT):
    return build.evidence(kind=kind, excerpt=text)


def test_a_value_of_the_fields_own_history_is_founded():
    assert founded("b", before=("c", "b"))
    assert founded(1, old=2, held=2, before=(1,))
    assert not founded("b", before=("c",))


def test_the_old_value_has_to_be_there_in_its_own_type():
    assert not founded("b", held="other", before=("b",))
    assert not founded(8, old="1", held=1, before=(8,))
    assert not founded(True, old=0, held=False, before=(True,))


def test_a_model_neither_adds_nor_removes_a_field():
    for op in (ChangeOp.INSERT, ChangeOp.APPEND, ChangeOp.DELETE):
        change = CHANGE.model_copy(update={"op": op})
        assert not is_founded(change, FieldSeen(NOW_HELD, (HELD_BEFORE,)), ())
    tree = CHANGE.model_copy(update={"new_tree": [HELD_BEFORE]})
    assert not is_founded(tree, FieldSeen(NOW_HELD, (HELD_BEFORE,)), ())


def test_a_field_is_not_removed_nor_left_as_it_is():
    assert not founded(None, before=(None,))
    assert not founded("a", before=("a",))


@pytest.mark.parametrize("kind", fields.WRITTEN)
def test_a_text_is_taken_from_what_people_with_rights_wrote(kind):
    assert founded("512Mi", excerpt("memory: 512Mi", kind))


@pytest.mark.parametrize(
    "kind", [kind for kind in EvidenceKind if kind not in fields.WRITTEN], ids=str
)
def test_a_text_is_not_taken_from_what_anybody_can_write(kind):
    assert not founded("512Mi", excerpt("memory: 512Mi", kind))


def test_a_number_is_taken_from_a_log_and_a_flag_is_not():
    said = excerpt("listening on :8080, ready: true, retries 3", EvidenceKind.LOG)
    assert founded(8080, said, old=80, held=80)
    assert not founded(3, said, old=80, held=80)
    assert not founded(True, said, old=False, held=False)
    assert not founded(8080, excerpt("port 8080", EvidenceKind.ALERT), old=80, held=80)


@pytest.mark.parametrize("text", ["memory: 1512Mi", "memory: 512MiB", "x/512Mi", "512Mi.example"])
def test_a_part_of_a_word_is_no_value(text):
    assert not founded("512Mi", excerpt(text))


def test_a_path_leads_to_its_value_or_nowhere():
    tree = {"list": [{"name": "app", "port": 80}, {"name": "two"}], "more": [1, 2]}
    assert value_at(tree, ("list", "[name=app]", "port")) == 80
    assert value_at(tree, ("more", 1)) == 2
    for path in [("list", "[name=no]"), ("more", 5), ("more", -1), ("more", "x", "y"), ("no", 0)]:
        assert value_at(tree, path) is None


WHO = {"kind": "Pod", "namespace": "shop", "name": "a"}


@pytest.mark.parametrize(
    ("tool", "arguments", "data", "seen"),
    [
        ("k8s.get", WHO, {"exists": True}, ["a"]),
        ("k8s.get", WHO, {"exists": False}, []),
        ("k8s.get", WHO, {"clusters": {"west": {"exists": True}}, "missing": {}}, ["a"]),
        ("k8s.list", WHO, {"objects": [{"name": "b"}, {"name": "c"}]}, ["b", "c"]),
        ("k8s.events", WHO, {"events": [{"reason": "x"}]}, ["a"]),
        ("k8s.events", WHO, {"events": []}, []),
        ("k8s.logs", {"namespace": "shop", "pod": "a"}, {"exists": True, "log": ""}, ["a"]),
        ("git.changes", WHO, [{"commit": "c"}], ["a"]),
        ("git.changes", WHO, [], []),
        ("other.get", WHO, {"exists": True}, []),
        ("k8s.get", WHO, "exists", []),
    ],
)
def test_only_what_our_own_tools_show_was_seen(tool, arguments, data, seen):
    wanted = {ObjectRef(kind="Pod", namespace="shop", name=name) for name in seen}
    assert sighted(tool, arguments, data) == wanted


def test_data_is_kept_as_a_person_reads_it():
    assert rendered({"object": "a: 1\nb: 2", "list": [1, None]}) == (
        "object: a: 1\nb: 2\nlist: - 1\n- null"
    )


def test_what_findings_cite_comes_first_where_room_is_short():
    many = tuple(build.evidence(id=f"e{n}", excerpt="x" * 500) for n in range(50))
    answer = known(finding(evidence=("e49",))).answer.model_copy(update={"evidence": many})
    text = told(known(answer=answer), Clusters("One cluster."), 5000, lambda: "mark")
    assert text.shown[0] == "e49"
    assert len(text.shown) < 10
    assert f"{50 - len(text.shown)} more pieces of evidence have no room" in text.text


def test_all_that_checks_ruled_out_is_told():
    why = Rejection(cause=LEAK, reasons=("It does not grow.",))
    text = told(known(rejections=(why,)), Clusters(""), 5000, lambda: "mark").text
    assert "- memory_leak, because:\n<<<output mark>>>\nIt does not grow." in text


async def test_a_call_that_was_refused_shows_nothing():
    state = State({})
    step, call = Step("investigator", ANA, state), ToolCall(id="1", name="k8s.get", arguments="{}")
    refused = ToolResult(status=Status.REFUSED, error="no")
    assert await Gathering(lambda: NOW).keep(step, call, refused) is None
    assert state.changes == {}


async def test_a_call_that_failed_is_evidence_that_something_was_not_seen():
    state = State({})
    step, call = Step("investigator", ANA, state), ToolCall(id="1", name="k8s.get", arguments="{}")
    told = await Gathering(lambda: NOW).keep(step, call, results.failed("no route"))
    assert told.message == "This is evidence m1."
    (kept,) = state["run:evidence"]
    assert (kept["kind"], kept["excerpt"]) == ("missing", "no route")
