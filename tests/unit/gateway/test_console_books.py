"""The books of the console: who did what, and what models cost, from facts alone."""

import asyncio
from contextlib import asynccontextmanager
from datetime import date, timedelta
from decimal import Decimal

import pytest
from starlette.datastructures import QueryParams

from tocsin_contracts import ModelUse
from tocsin_contracts.chat import ChatAnswered
from tocsin_contracts.configuring import ConfigChanged
from tocsin_contracts.operations import DeadLetterDiscarded, RunRerun
from tocsin_gateway.console.audit import Wanted, entry
from tocsin_gateway.console.books import Books
from tocsin_gateway.console.cost import Costs
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.feed import Fact
from tocsin_testing import build
from tocsin_testing.build import NOW
from tocsin_testing.fake_feed import FakeFeed
from tocsin_testing.fakes import outage

TODAY = NOW.date()


async def until(done):
    for _ in range(1000):
        if done():
            return
        await asyncio.sleep(0)
    pytest.fail("it did not happen")


@asynccontextmanager
async def reading(books):
    """Read in the background, and return when what there was is read."""
    task = asyncio.create_task(books.run())
    await until(lambda: books.whole)
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def read(*events):
    books = Books(FakeFeed(*events))
    async with reading(books):
        return books


async def test_the_audit_names_who_did_what_and_why_the_newest_first():
    books = await read(
        build.alert_accepted(),
        build.approval_recorded(),
        build.approval_denied(),
        build.run_cancel_requested(),
        build.pull_request_merged(by="bo"),
        build.hypothesis_formed(),
    )
    told = [(one.by, one.deed.value, one.reason, one.surface) for one in books.entries]
    assert told == [
        ("bo", "pull_request", "", ""),
        ("ana", "run", "a drill", ""),
        ("ana", "decision", "not today", "gateway:ana"),
        ("ana", "decision", "", "gateway:ana"),
    ]
    assert {one.plan_hash for one in books.entries} == {"", build.plan().plan_hash}


async def test_who_breaks_the_glass_or_touches_a_letter_or_a_setting_is_named():
    alone = build.decision(break_glass=True, reason="the site is down")
    books = await read(
        build.approval_granted(decision=alone),
        build.event(DeadLetterDiscarded),
        build.event(ConfigChanged),
        build.event(RunRerun),
    )
    deeds = [(one.deed.value, one.break_glass) for one in reversed(books.entries)]
    assert deeds == [
        ("decision", True),
        ("dead_letter", False),
        ("configuration", False),
        ("run", False),
    ]
    assert all(one.by for one in books.entries)


async def test_a_decision_that_nobody_took_has_nobody_as_its_author():
    (one,) = (await read(build.approval_expired())).entries
    assert (one.by, one.text) == ("", "Nobody decided in time.")


async def test_what_happens_after_the_start_is_in_the_books_too():
    feed = FakeFeed(build.alert_accepted())
    books = Books(feed)
    async with reading(books):
        await feed.add(build.approval_granted())
        await until(lambda: books.entries)
    assert books.entries[0].text == "Approved by ana."


async def test_a_bus_that_is_away_leaves_the_books_open_and_not_empty(monkeypatch):
    monkeypatch.setattr("tocsin_gateway.console.books.RETRY_SECONDS", 0)
    feed = FakeFeed(build.approval_granted())
    feed.down = outage()
    books = Books(feed)
    task = asyncio.create_task(books.run())
    await asyncio.sleep(0)
    assert not books.whole
    feed.down = None
    await until(lambda: books.whole)
    assert len(books.entries) == 1
    task.cancel()


async def test_the_books_are_bounded():
    feed = FakeFeed(*(build.approval_granted(run_id=f"r{n}") for n in range(9)))
    books = Books(feed, most=3)
    async with reading(books):
        assert [one.run_id for one in books.entries] == ["r8", "r7", "r6"]


def lines():
    facts = (
        build.approval_granted(decision=build.decision(by="ana")),
        build.approval_denied(run_id="r2", at=NOW + timedelta(days=1)),
        build.run_cancel_requested(run_id="r2", by="Bo", at=NOW + timedelta(days=2)),
    )
    return [entry(Fact(number, fact)) for number, fact in enumerate(facts, 1)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [1, 2, 3]),
        ("by=bo", [3]),
        ("run=r2", [2, 3]),
        ("run=r", []),
        ("deed=decision", [1, 2]),
        ("since=2026-03-03", [2, 3]),
        ("until=2026-03-03", [1, 2]),
        ("since=2026-03-03&until=2026-03-03&by=AN", [2]),
    ],
)
def test_entries_are_found_by_person_run_kind_and_day(query, found):
    wanted = Wanted.of(QueryParams(query))
    assert [one.number for one in wanted.found(lines())] == found
    assert Wanted.of(QueryParams(wanted.address())) == wanted


@pytest.mark.parametrize("query", ["since=yesterday", "until=2026-13-01", "deed=theft"])
def test_a_filter_that_says_nothing_is_refused_and_never_ignored(query):
    with pytest.raises(RefusedError):
        Wanted.of(QueryParams(query))


def use(calls, cost="0.10", model="gpt-9"):
    price = None if cost is None else Decimal(cost)
    return ModelUse(models=(model,), model_calls=calls, tokens=calls * 100, cost=price)


def spent(*events):
    costs = Costs()
    for event in events:
        costs.take(event)
    return costs


def test_what_a_run_used_so_far_is_counted_once():
    costs = spent(
        build.alert_accepted(),
        build.budget_exhausted(model_use=use(2, "0.20")),
        build.hypothesis_formed(model_use=use(5, "0.50")),
        build.hypothesis_formed(model_use=use(1, "0.10"), model_use_before=use(5, "0.50")),
        build.comment_answered(model_use=use(1, "0.05")),
    )
    ((day, total),) = costs.days(TODAY, 1)
    assert (day, total.money, total.model_calls, total.tokens) == (TODAY, Decimal("0.65"), 7, 700)


def test_a_price_that_nobody_knows_is_unknown_and_not_zero():
    costs = spent(
        build.hypothesis_formed(model_use=use(2, "0.20")),
        build.hypothesis_formed(run_id="r2", model_use=use(3, None, "own")),
    )
    ((_, total),) = costs.days(TODAY, 1)
    assert (total.price, total.money, total.unpriced) == (None, Decimal("0.20"), 3)
    assert [(row.name, row.spent.price) for row in costs.models(TODAY)] == [
        ("gpt-9", Decimal("0.20")),
        ("own", None),
    ]


def test_costs_are_told_by_source_and_day():
    other = build.alert(source="datadog")
    later = NOW + timedelta(days=2)
    costs = spent(
        build.hypothesis_formed(model_use=use(1)),
        build.hypothesis_formed(run_id="r2", alert=other, at=later, model_use=use(9, "0.90")),
    )
    days = costs.days(later.date(), 3)
    assert [total.money for _, total in days] == [Decimal("0.90"), Decimal(0), Decimal("0.10")]
    assert [row.name for row in costs.sources(TODAY)] == ["datadog", "alertmanager"]
    assert [row.name for row in costs.sources(date(2026, 3, 4))] == ["datadog"]


def test_each_answer_in_a_chat_is_counted_by_itself():
    costs = spent(
        build.event(ChatAnswered, id="a1", model_use=use(1)),
        build.event(ChatAnswered, id="a2", model_use=use(1)),
    )
    (row,) = costs.sources(TODAY)
    assert (row.name, row.spent.model_calls) == ("questions in chats", 2)


def test_a_run_whose_alert_was_not_seen_has_a_source_that_is_not_known():
    (row,) = spent(build.budget_exhausted(model_use=use(1))).sources(TODAY)
    assert row.name == "not known"
