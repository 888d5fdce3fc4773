"""What every event promises to whoever reads it."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tocsin_contracts import (
    BY_TOPIC,
    EVENTS,
    OPEN_STATES,
    AlertSuppressed,
    ApprovalExpired,
    CommentIgnored,
    FixDeployed,
    FixVerified,
    PlanSuperseded,
    PullRequestClosed,
    PullRequestCommented,
    RunFinished,
    RunState,
    derive_id,
    schemas,
)
from tocsin_contracts.configuring import ConfigChanged
from tocsin_contracts.operations import DeadLetterDiscarded, DeadLetterReplayed, RunRerun
from tocsin_kit.topology import CONSUMERS, FACTS, READS
from tocsin_testing import build

EVERY_EVENT = pytest.mark.parametrize("event_type", EVENTS, ids=lambda event: event.topic)
UNREAD = {
    AlertSuppressed: "RunFinished follows it at once and is read instead",
    PlanSuperseded: "PlanDrafted follows it at once and is read instead",
    PullRequestCommented: "nothing follows from it; the timeline shows it",
    CommentIgnored: "nothing follows from it; the timeline shows it",
    PullRequestClosed: "RunFinished follows it at once and is read instead",
    FixDeployed: "action itself says it and goes on; the timeline shows it",
    FixVerified: "RunFinished follows it at once and is read instead",
    ApprovalExpired: "action itself says it and goes on; the record and the timeline show it",
    RunRerun: "AlertAccepted of the new run is read instead",
    DeadLetterReplayed: "the message that is given again is read instead",
    DeadLetterDiscarded: "nothing follows from it; the audit shows it",
    ConfigChanged: "services look at the store instead; the audit shows it",
}
"""Events that no service consumes, and why they are facts all the same."""

TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
TIMES = st.datetimes(timezones=st.just(UTC))
ALERTS = st.builds(
    build.alert,
    title=TEXT,
    labels=st.dictionaries(TEXT, TEXT, max_size=3),
    starts_at=st.none() | TIMES,
    workload=st.none() | st.builds(build.workload, name=TEXT),
)


@st.composite
def events(draw):
    event_type = draw(st.sampled_from(EVENTS))
    changes = {"alert": draw(ALERTS)} if "alert" in event_type.model_fields else {}
    return build.event(
        event_type,
        run_id=draw(NAMES),
        at=draw(TIMES),
        cause=draw(TEXT),
        producer=draw(TEXT),
        trace=draw(st.none() | TEXT),
        run_version=draw(st.integers(0, 10**6)),
        **changes,
    )


def test_every_event_has_its_schema_checked_in():
    assert schemas.differences(schemas.FOLDER) == []


def test_no_event_changed_in_a_way_that_breaks_a_reader():
    assert schemas.broken(schemas.FOLDER) == []


@EVERY_EVENT
def test_a_topic_is_an_area_a_fact_and_a_version(event_type):
    assert re.fullmatch(r"[a-z]+\.[a-z]+(-[a-z]+)*\.v[1-9]\d*", event_type.topic)


def test_no_two_events_share_a_topic():
    assert len(BY_TOPIC) == len(EVENTS)


def test_no_two_consumers_share_a_durable():
    assert [n for n, count in Counter(c.durable for c in CONSUMERS).items() if count > 1] == []


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda consumer: consumer.durable)
def test_a_durable_has_a_name_that_the_server_takes(consumer):
    assert re.fullmatch(r"[a-z][a-z-]{0,31}", consumer.durable)


def test_what_services_read_is_an_event():
    assert {event for _, event in READS} <= set(EVENTS)


def test_an_event_is_read_by_a_service_or_says_why_not():
    assert set(EVENTS) - {event for _, event in READS} == set(UNREAD)


@EVERY_EVENT
def test_the_pattern_of_an_event_matches_its_subject_and_no_other_events(event_type):
    def matching(pattern):
        parts = pattern.split(".")
        return lambda subject: (
            len(subject.split(".")) == len(parts)
            and all(want in ("*", got) for want, got in zip(parts, subject.split("."), strict=True))
        )

    matches = matching(event_type.pattern())
    assert [e for e in EVENTS if matches(build.event(e).subject)] == [event_type]


def test_the_consumers_of_facts_ask_for_the_pattern_of_an_event():
    asked = {c.subject for c in CONSUMERS if c.stream == FACTS}
    assert asked == {event.pattern() for _, event in READS}


@EVERY_EVENT
def test_a_field_that_a_reader_does_not_know_is_ignored(event_type):
    event = build.event(event_type)
    newer = event.model_dump_json().replace("{", '{"from_the_future": [1],', 1)
    assert event_type.model_validate_json(newer) == event


@settings(max_examples=60)
@given(events())
def test_every_event_survives_the_bus_unchanged(event):
    assert type(event).model_validate_json(event.model_dump_json()) == event


@EVERY_EVENT
def test_an_event_cannot_be_changed(event_type):
    with pytest.raises(ValidationError, match="frozen"):
        build.event(event_type).run_id = "another"


@given(cause=TEXT, ordinals=st.lists(st.integers(0, 50), unique=True, max_size=5))
@settings(max_examples=30)
def test_p5_the_same_cause_gives_the_same_ids_and_no_two_answers_share_one(cause, ordinals):
    event = build.run_finished()
    ids = [event.caused_by(cause, "rca", n).id for n in ordinals]
    assert ids == [event.caused_by(cause, "action", n).id for n in ordinals]
    assert len(set(ids)) == len(ordinals)


@given(st.lists(st.sampled_from(EVENTS), min_size=2, max_size=2, unique=True), TEXT)
@settings(max_examples=30)
def test_two_topics_never_share_an_id(pair, cause):
    first, second = pair
    assert derive_id(cause, first.topic) != derive_id(cause, second.topic)


def test_an_id_has_one_length_however_long_the_chain_of_causes_is():
    event = build.incident_opened()
    for _ in range(20):
        event = event.caused_by(event.id, "ingest")
    assert len(event.id) == 32


@EVERY_EVENT
def test_the_headers_are_a_whole_cloud_event_and_the_deduplication_id(event_type):
    event = build.event(event_type).caused_by("c", "rca")
    assert event.headers() == {
        "Nats-Msg-Id": event.id,
        "ce-specversion": "1.0",
        "ce-id": event.id,
        "ce-type": f"io.tocsin.{event.topic}",
        "ce-source": "/tocsin/rca",
        "ce-time": "2026-03-02T10:00:00+00:00",
        "ce-subject": "r1",
        "content-type": "application/json",
    }


def test_a_trace_goes_out_as_a_header():
    assert build.incident_opened(trace="00-a-b-01").headers()["traceparent"] == "00-a-b-01"


@pytest.mark.parametrize("run_id", ["", "a.b", "a b", "*", ">", "a/b", "é", "x" * 65])
def test_a_run_id_that_would_change_the_subject_is_refused(run_id):
    with pytest.raises(ValidationError, match="run_id"):
        build.incident_opened(run_id=run_id)


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(ValidationError, match="timezone"):
        build.incident_opened(at=datetime(2026, 3, 2))  # noqa: DTZ001 - what is refused


def test_an_event_without_a_time_gets_the_present_one():
    fresh = RunFinished.model_validate(
        {"run_id": "r1", "outcome": "failed", "reason": "handler_failed", "sentence": "s"}
    )
    assert abs(datetime.now(UTC) - fresh.at) < timedelta(minutes=1)


@pytest.mark.parametrize("state", OPEN_STATES)
def test_p4_a_run_cannot_finish_in_an_open_state(state):
    with pytest.raises(ValidationError, match=f"cannot end as {state.value}"):
        build.run_finished(outcome=state)


@pytest.mark.parametrize("state", [state for state in RunState if state.terminal])
def test_p4_a_run_that_finished_is_in_the_state_that_its_ending_names(state):
    assert build.run_finished(outcome=state).state is state


def test_p4_an_ending_without_a_reason_is_refused():
    with pytest.raises(ValidationError, match="reason"):
        build.run_finished(reason="because")


def test_every_state_is_open_or_an_end_and_the_names_of_open_ones_are_public():
    assert {state for state in RunState if not state.terminal} == set(OPEN_STATES)
    assert {state.status for state in OPEN_STATES} == {
        "queued",
        "running",
        "awaiting_approval",
        "applied",
        "pr_merged",
    }
