"""What becomes of the pull requests of an issue: the decision table, a row a promise."""

from datetime import timedelta

import pytest

from tocsin_contracts import EndReason, FoundPull
from tocsin_gitops.pulls import PullRequest, PullState
from tocsin_kit.issues import Written
from tocsin_testing import build
from tocsin_testing.build import NOW
from tocsin_validation.converging import (
    Closed,
    Found,
    Increment,
    Lacking,
    Open,
    Rules,
    Seen,
    Standing,
    Stop,
    Wait,
    decide,
)

RULES = Rules(verify=timedelta(minutes=15), cool_down=timedelta(hours=24))
BRANCH = "tocsin/payments-api-0123456789"
OURS, THEIRS = "a" * 40, "b" * 40
LONG_AGO = NOW - timedelta(days=9)


def pull(state=PullState.OPEN, **changes) -> PullRequest:
    fields = {
        "number": 1,
        "title": "payments-api: memory",
        "body": "",
        "head_branch": BRANCH,
        "base_branch": "main",
        "commit": OURS,
        "state": state,
        "opened_at": LONG_AGO,
        "url": "https://forge.example/shop/pull/1",
    }
    return PullRequest(**(fields | changes))


def written(commit=OURS, **changes) -> Written:
    fields = {
        "commit": commit,
        "head_branch": BRANCH,
        "url": pull().url,
        "run_id": "r0",
        "plan_hash": "9" * 64,
        "at": LONG_AGO,
        "opened": True,
    }
    return Written(**(fields | changes))


def standing(*seen: Seen, **changes) -> Standing:
    fields = {"seen": seen, "written": (written(),)}
    return Standing(BRANCH, "main", **(fields | changes))


def one(state=PullState.OPEN, at=OURS, **changes) -> Seen:
    return Seen(BRANCH, at, (pull(state, **changes),))


def decided(found: Standing):
    return decide(found, RULES, NOW)


LACKS = Lacking((build.edit(),))


def test_without_any_pull_request_one_is_opened_from_the_branch_of_the_issue():
    assert decided(standing()) == Open(BRANCH)


def test_an_open_one_that_holds_the_change_is_enough():
    found = decided(standing(one()))
    assert isinstance(found, Found)
    assert (found.found, found.pull) == (FoundPull.SUFFICIENT, pull())


def test_an_open_one_that_holds_the_change_is_enough_whoever_wrote_it():
    found = decided(standing(one(commit=THEIRS), written=()))
    assert found.found is FoundPull.SUFFICIENT


def test_an_open_one_of_ours_that_lacks_something_gets_one_more_commit():
    assert decided(standing(one(), lacking=LACKS)) == Increment(pull(), LACKS.edits)


@pytest.mark.parametrize(
    ("seen", "changes", "why"),
    [
        (one(commit=THEIRS), {}, "no commit of ours"),
        (one(), {"written": ()}, "no commit of ours"),
        (one(base_branch="release"), {}, "goes to the branch 'release'"),
        (one(), {"lacking": Lacking(why="the field is gone")}, "the field is gone"),
    ],
    ids=["human commits", "lost record", "another base", "does not fit"],
)
def test_an_open_one_that_people_work_on_is_left_alone(seen, changes, why):
    found = decided(standing(seen, **({"lacking": LACKS} | changes)))
    assert found.found is FoundPull.HANDS_OFF
    assert why in found.why


def test_a_fresh_merge_is_verified_before_anything_else():
    merged = standing(one(PullState.MERGED), ended_at=NOW - timedelta(minutes=14, seconds=50))
    found = decided(merged)
    assert isinstance(found, Wait)
    assert found.seconds == 10
    assert decided(standing(one(PullState.MERGED), ended_at=NOW)).seconds == 60


@pytest.mark.parametrize("at", [OURS, THEIRS, None], ids=["left", "pushed to", "deleted"])
def test_after_an_older_merge_the_next_branch_is_used_and_the_old_one_left_as_it_is(at):
    merged = standing(one(PullState.MERGED, at), ended_at=NOW - timedelta(minutes=15))
    assert decided(merged) == Open(f"{BRANCH}-2")


def test_d4_what_a_person_closed_stays_closed_for_the_cool_down():
    closed_at = NOW - timedelta(hours=23)
    found = decided(standing(one(PullState.CLOSED, None), ended_at=closed_at))
    assert found == Closed(pull(PullState.CLOSED), closed_at + timedelta(hours=24))


def test_after_the_cool_down_the_next_branch_is_used():
    closed = standing(one(PullState.CLOSED), ended_at=NOW - timedelta(hours=24))
    assert decided(closed) == Open(f"{BRANCH}-2")


def test_a_pull_request_whose_end_has_no_time_is_taken_for_fresh():
    assert isinstance(decided(standing(one(PullState.CLOSED))), Closed)


def test_a_branch_of_ours_without_a_pull_request_may_only_not_be_listed_yet():
    fresh = written(at=NOW - timedelta(minutes=9))
    assert isinstance(decided(standing(Seen(BRANCH, OURS, ()), written=(fresh,))), Wait)


def test_a_branch_of_ours_whose_pull_request_never_came_is_left_for_the_next():
    assert decided(standing(Seen(BRANCH, OURS, ()))) == Open(f"{BRANCH}-2")


@pytest.mark.parametrize("at", [THEIRS, "c" * 40])
def test_a_branch_of_somebody_else_without_a_pull_request_is_for_a_person(at):
    found = decided(standing(Seen(BRANCH, at, ())))
    assert isinstance(found, Stop)
    assert (found.reason, at[:10] in found.sentence) == (EndReason.BRANCH_TAKEN, True)


def numbered(number: int, state: PullState, **changes) -> Seen:
    branch = BRANCH if number == 1 else f"{BRANCH}-{number}"
    url = f"https://forge.example/shop/pull/{number}"
    fields = {"number": number, "head_branch": branch, "url": url}
    return Seen(branch, OURS, (pull(state, **(fields | changes)),))


def test_the_last_branch_counts_and_the_next_number_follows():
    seen = [numbered(n, PullState.MERGED) for n in (1, 2, 3)]
    assert decided(standing(*seen, ended_at=LONG_AGO)) == Open(f"{BRANCH}-4")


def test_an_earlier_one_that_a_person_opened_again_counts():
    seen = numbered(1, PullState.OPEN), numbered(2, PullState.CLOSED)
    assert decided(standing(*seen)).pull.number == 1


def test_of_two_on_one_branch_the_open_one_counts():
    again = pull(PullState.OPEN, number=2)
    seen = Seen(BRANCH, OURS, (pull(PullState.CLOSED, number=3), again))
    assert decided(standing(seen)).pull == again


@pytest.mark.parametrize("told_by", ["listing", "record"])
def test_a_third_pull_request_within_a_day_is_for_a_person(told_by):
    today = NOW - timedelta(hours=23)
    if told_by == "listing":
        seen = [numbered(n, PullState.MERGED, opened_at=today) for n in (1, 2)]
        found = decided(standing(*seen, ended_at=NOW - timedelta(hours=1)))
    else:
        records = [written(str(n) * 40, url=f"u{n}", at=today) for n in (1, 2)]
        seen = numbered(1, PullState.MERGED), numbered(2, PullState.MERGED)
        ended = NOW - timedelta(hours=1)
        found = decided(standing(*seen, written=tuple(records), ended_at=ended))
    assert isinstance(found, Stop)
    assert found.reason is EndReason.TOO_MANY_PULLS


def test_commits_that_were_added_are_no_pull_requests_to_count():
    today = NOW - timedelta(hours=2)
    records = [written(str(n) * 40, url="u", at=today, opened=n == 1) for n in (1, 2, 3)]
    seen = numbered(1, PullState.MERGED)
    found = decided(standing(seen, written=tuple(records), ended_at=NOW - timedelta(hours=1)))
    assert found == Open(f"{BRANCH}-2")
