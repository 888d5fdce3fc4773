"""Runs as people look at them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tocsin_contracts import EVENTS, AlertStatus, CheckVerdict, ForgeAuthor, Incident, Severity
from tocsin_contracts.views import RunView
from tocsin_gateway import telling, views
from tocsin_kit.tally import Member, Tally
from tocsin_testing import build
from tocsin_testing.build import NOW

ACCEPTED = build.alert_accepted()


def shown(*facts, approval=None):
    return views.detail(build.run(ACCEPTED, *facts), approval)


def test_p7_a_line_says_where_the_run_is_under_both_names():
    line = views.summary(build.run(ACCEPTED, build.hypothesis_formed()))
    assert (line.state, line.phase, line.status) == ("validating", "validating", "running")
    assert (line.title, line.severity) == ("KubeContainerOOMKilled", Severity.CRITICAL)
    assert (line.workload.name, line.occurrences, line.ended) == ("payments-api", 1, "")


def test_a_line_counts_the_deliveries():
    line = views.summary(build.run(ACCEPTED, build.alert_repeated(occurrences=7)))
    assert line.occurrences == 7


TALLY = Tally(
    first_seen=NOW,
    last_seen=NOW + timedelta(minutes=30),
    occurrences=4,
    episodes=2,
    firing=1,
    resolved=2,
    severity=Severity.CRITICAL,
    alert=build.alert(summary="as it was told last"),
    members=(
        Member("f", "T", AlertStatus.FIRING, Severity.INFO, NOW, None, NOW),
        Member("g", "U", AlertStatus.RESOLVED, Severity.INFO, NOW, NOW, NOW),
    ),
)


def test_p7_a_line_has_what_the_receiver_counted():
    quiet = build.alert_accepted(alert=build.alert(severity=Severity.INFO))
    line = views.summary(build.run(quiet, build.alert_repeated(occurrences=2)), TALLY)
    assert (line.first_seen, line.last_seen) == (TALLY.first_seen, TALLY.last_seen)
    assert (line.occurrences, line.episodes, line.firing, line.resolved) == (4, 2, 1, 2)
    assert line.severity is Severity.CRITICAL, "the highest of its alerts"


def test_a_run_says_why_its_alerts_are_one_incident_and_how_each_stands():
    incident = Incident(key="k", parts={"namespace": "payments", "workload": "payments-api"})
    accepted = build.alert_accepted(alert=build.alert(incident=incident))
    view = views.detail(build.run(accepted), None, TALLY)
    assert view.incident_parts == incident.parts
    assert view.alert.summary == "as it was told last"
    assert [(one.fingerprint, one.status.value) for one in view.members] == [
        ("f", "firing"),
        ("g", "resolved"),
    ]


def test_a_record_that_does_not_know_its_alert_has_no_line():
    assert views.summary(build.run()) is None
    assert views.detail(build.run(), None) is None


def test_parts_of_a_run_that_did_not_happen_are_none():
    view = shown()
    assert (view.hypothesis, view.plan, view.approval) == (None, None, None)
    assert (view.pull_request, view.finished, view.checks) == (None, None, ())


def test_p7_what_happened_is_shown_as_it_happened():
    view = shown(
        build.hypothesis_formed(),
        build.plan_drafted(),
        build.pull_request_opened(),
        build.run_finished(),
        approval=build.approval(decided_by="ana", decided_at=NOW),
    )
    assert view.hypothesis == build.hypothesis()
    assert view.plan == build.plan()
    assert view.checks == build.plan().checks
    assert view.pull_request.url == build.pull_request_opened().url
    assert view.finished.sentence == "Nobody knows the cause."
    assert (view.approval.decided_by, view.approval.decided_at) == ("ana", NOW)


@pytest.mark.parametrize(
    "fact",
    [
        build.hypothesis_rejected(),
        build.run_escalated(checks=(build.check(verdict=CheckVerdict.FAIL),)),
    ],
    ids=["rejected", "escalated"],
)
def test_the_checks_that_stopped_a_run_are_shown_without_a_plan(fact):
    assert [check.verdict for check in shown(fact).checks] == [CheckVerdict.FAIL]


def test_the_timeline_is_in_the_order_things_happened():
    later = build.incident_opened(at=NOW + timedelta(seconds=5))
    earlier = build.hypothesis_formed(at=NOW + timedelta(seconds=2))
    topics = [entry.topic for entry in shown(later, earlier).timeline]
    assert topics == [ACCEPTED.topic, earlier.topic, later.topic]


@pytest.mark.parametrize("event_type", EVENTS, ids=lambda event: event.topic)
def test_every_event_is_a_sentence_in_the_timeline(event_type):
    assert " " in telling.sentence(build.event(event_type))


def test_a_view_survives_the_way_to_the_command_line():
    view = shown(build.hypothesis_formed(), build.plan_drafted(), approval=build.approval())
    assert RunView.model_validate_json(view.model_dump_json()) == view


def test_p7_a_superseded_run_points_to_the_run_that_goes_on():
    superseded = build.run_superseded(into="r0", why="both on node n1", decisions=("No silence.",))
    view = shown(superseded)
    assert (view.triage.superseded_by, view.triage.decisions) == ("r0", ("No silence.",))
    assert view.timeline[-1].text == "Run r0 looks after it: both on node n1."


def test_d03_the_end_of_a_silence_keeps_its_instant_and_its_offset():
    until = "2026-07-16T16:00:00+02:00"
    held = build.alert_suppressed(by="u-17", until=until)
    triage = shown(held).triage.model_dump(mode="json")
    assert (triage["held_by"], triage["held_until"]) == ("u-17", until)


def test_a_run_says_whose_it_is_and_that_changes_have_to_wait():
    opened = build.incident_opened(team="payments", environment="prod", freeze="year end")
    triage = shown(opened).triage
    assert (triage.team, triage.environment, triage.freeze) == ("payments", "prod", "year end")


def test_a_run_shows_the_alerts_whose_runs_it_took_over():
    run = build.run(ACCEPTED, build.incident_opened())
    news = (build.related_alert(run_id="r2"), build.related_alert())
    assert views.detail(run, None, None, news).triage.joined == news[:1]


def test_a_run_that_triage_has_not_decided_about_says_nothing_of_it():
    assert shown().triage is None


def test_a_run_without_a_certain_cause_shows_what_was_seen_until_a_cause_is_found():
    found = build.investigation_inconclusive(at=NOW)
    view = shown(found).inconclusive
    assert (view.why, view.evidence, view.candidates) == (
        found.why,
        found.evidence,
        found.candidates,
    )
    later = build.hypothesis_formed(at=NOW + timedelta(seconds=1))
    assert shown(found, later).inconclusive is None
    assert shown().inconclusive is None


def test_every_fact_of_a_kind_is_told_once_and_a_second_plan_is_seen():
    plans = [build.plan_drafted(id=f"p{n}", at=NOW + timedelta(seconds=n)) for n in (1, 2)]
    again = plans[1].model_copy(update={"id": "given again", "cause": "a letter"})
    run = build.run(ACCEPTED, again, past=(plans[0], plans[1]))
    topics = [entry.topic for entry in telling.timeline(run)]
    assert topics == [ACCEPTED.topic, plans[0].topic, plans[1].topic]


def test_a_merge_is_told_once_and_by_the_name_of_who_did_it():
    at = NOW + timedelta(minutes=1)
    received = build.forge_event_received(author=ForgeAuthor(id="8", login="ann"))
    merged = build.pull_request_merged(url=received.url, by="8", at=at)
    told = telling.timeline(build.run(ACCEPTED, received, merged))
    assert [entry.text for entry in told[1:]] == [f"{received.url} was merged by ann."]


def test_alerts_of_one_name_are_told_by_what_differs():
    def one(pod):
        labels = {"pod": pod, "namespace": "payments", "uid": pod * 2}
        return build.alert(fingerprint=pod, title="KubePodCrashLooping", labels=labels)

    accepted = build.alert_accepted(alert=one("a"))
    later = [
        build.alert_repeated(id=pod, alert=one(pod), at=NOW + timedelta(seconds=1))
        for pod in ("b", "c")
    ]
    run = build.run(accepted, later[1], past=(later[0],))
    assert [entry.text.partition(" ")[2][:45] for entry in telling.timeline(run)] == [
        "KubePodCrashLooping (pod a, uid aa) opened th",
        "KubePodCrashLooping (pod b, uid bb) still fir",
        "KubePodCrashLooping (pod c, uid cc) still fir",
    ]
    tally = replace(
        TALLY,
        members=(
            Member("b", "KubePodCrashLooping", AlertStatus.FIRING, Severity.INFO, NOW, None, NOW),
        ),
    )
    assert views.detail(run, None, tally).members[0].differs == "pod b, uid bb"


def test_what_a_record_had_no_room_for_is_counted():
    assert views.detail(build.run(ACCEPTED, forgotten=7), None).untold == 7
