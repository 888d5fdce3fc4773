"""Alerts from the command line: what is sent, what is shown, and when a test has failed."""

import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from tocsin_cli import alerts, app
from tocsin_cli.alerts import Alarm
from tocsin_cli.client import Gateway, Ingest
from tocsin_cli.commands.alert import told
from tocsin_cli.journey import Journey
from tocsin_cli.settings import Access
from tocsin_contracts import AlertStatus, EndReason, RunState
from tocsin_contracts.views import DeliveryReceipt, FinishedView, RunView, TimelineEntry
from tocsin_ingest.sources.alertmanager import Alertmanager
from tocsin_kit.errors import PermanentError
from tocsin_testing.fakes import FakeClock
from tocsin_testing.readings import alerts_of

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
RUN = RunView.model_validate_json(Path(__file__).with_name("sample.run.json").read_bytes())
ALARM = Alarm("Disk full", "P1", "No room is left.", {"instance": "db-1"})
OPENED = {"fingerprint": "f", "status": "opened", "run_id": "r7f3"}
RECEIPT = {"status": "accepted", "run_id": "r7f3", "alerts": [OPENED]}


def test_an_alarm_is_what_alertmanager_would_send():
    body = ALARM.notification(AlertStatus.FIRING, AT)
    (alert,) = alerts_of(Alertmanager.name, json.loads(body))
    assert (alert.title, alert.severity_given, alert.summary) == ("Disk full", "P1", ALARM.summary)
    assert alert.labels == {"alertname": "Disk full", "severity": "P1", "instance": "db-1"}
    assert (alert.status, alert.starts_at) == (AlertStatus.FIRING, AT)


def test_the_end_of_an_alarm_is_of_the_same_alert():
    bodies = (ALARM.notification(status, AT) for status in AlertStatus)
    first, over = (alerts_of("alertmanager", json.loads(body))[0] for body in bodies)
    assert over.status is AlertStatus.RESOLVED
    assert over.fingerprint == first.fingerprint


def test_a_harmless_alarm_is_about_a_workload_that_nobody_has_and_no_two_are_one():
    alarms = [alerts.harmless() for _ in range(10)]
    assert len({alarm.labels["deployment"] for alarm in alarms}) == 10
    assert {alarm.labels["namespace"] for alarm in alarms} == {"tocsin-test"}
    assert {alarm.severity for alarm in alarms} == {"info"}


def entry(seconds, producer, text):
    at = AT + timedelta(seconds=seconds)
    return TimelineEntry(at=at, topic=f"{producer}.{seconds}", producer=producer, text=text)


STEPS = (
    entry(0, "ingest", "Alert TocsinTest opened the run."),
    entry(0.5, "rca", "No cause is certain."),
    entry(1.25, "validation", "A person has to look."),
    entry(1.5, "validation", "A person has to look."),
)


def run(state, steps, *, ended=True):
    finished = FinishedView(outcome=state, reason=EndReason.CAUSE_UNKNOWN, sentence="So it ended.")
    changes = {"state": state, "timeline": steps, "ended": "So it ended."}
    return RUN.model_copy(update=changes | {"finished": finished if ended else None})


class World:
    """An ingest that keeps what it gets, and a gateway that shows one look after the other."""

    def __init__(self, *looks, receipt=RECEIPT):
        self.looks = list(looks)
        self.receipt = receipt
        self.sent = []

    def answer(self, request):
        if request.method == "POST":
            self.sent.append(json.loads(request.content)["alerts"][0]["status"])
            return httpx.Response(202, json=self.receipt)
        look = self.looks[0] if len(self.looks) == 1 else self.looks.pop(0)
        if look is None:
            return httpx.Response(503, json={"error": "starting"})
        return httpx.Response(200, content=look.model_dump_json())


async def travelled(world, seconds=5.0):
    said = io.StringIO()
    transport = httpx.MockTransport(world.answer)
    access = Access("http://test", "token")
    async with Ingest(access, transport) as ingest, Gateway(access, transport) as gateway:
        journey = Journey(ingest, gateway, Console(file=said, width=200), FakeClock())
        verdict = await journey.travel(ALARM, seconds)
    return verdict, said.getvalue().splitlines()


async def test_a_test_shows_each_step_once_with_its_time_and_says_how_it_went():
    world = World(None, run(RunState.INVESTIGATING, STEPS[:2], ended=False),
                  run(RunState.ESCALATED, STEPS))  # fmt: skip
    verdict, lines = await travelled(world)
    assert lines[1:] == [
        "    0.00 s  ingest      Alert TocsinTest opened the run.",
        "    0.50 s  rca         No cause is certain.",
        "    1.25 s  validation  A person has to look.",
    ]
    assert "the whole way in 1.5 s, through ingest, rca, validation" in verdict
    assert "ended as escalated, and nothing was written" in verdict


async def test_a_test_leaves_nothing_firing():
    world = World(run(RunState.ESCALATED, STEPS))
    await travelled(world)
    assert world.sent == ["firing", "resolved"]


@pytest.mark.parametrize("state", [RunState.SUPPRESSED, RunState.SUPERSEDED])
async def test_an_alert_that_a_rule_stopped_has_arrived_and_the_verdict_says_why_it_went_no_further(
    state,
):
    verdict, _ = await travelled(World(run(state, STEPS[:1])))
    assert "a rule stopped it" in verdict
    assert "So it ended." in verdict


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (World(None), "no run r7f3 within 0.05 s"),
        (
            World(run(RunState.INVESTIGATING, STEPS[:2], ended=False)),
            "is investigating, and rca said last: No cause",
        ),
        (World(run(RunState.FAILED, STEPS)), "failed: So it ended"),
        (World(receipt={"status": "nothing to do"}), "opened no run"),
    ],
    ids=["no gateway", "stuck", "failed", "no run"],
)
async def test_an_alert_that_does_not_arrive_is_a_failure_that_says_where_it_stands(world, why):
    with pytest.raises(PermanentError, match=why):
        await travelled(world, seconds=0.05)


def test_each_alert_of_a_delivery_is_told_with_its_run_once():
    receipts = [OPENED, OPENED | {"status": "attached"}, {"fingerprint": "g", "status": "ignored"}]
    lines = told(DeliveryReceipt.model_validate({"status": "accepted", "alerts": receipts}))
    assert lines == [
        "opened    r7f3",
        "attached  r7f3",
        "ignored   no run",
        "  tocsin run watch r7f3",
    ]
    assert told(DeliveryReceipt(status="nothing to do")) == ["nothing to do"]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a title", "--file", "body.json"],
        ["a title", "--label", "no-value"],
        ["--file", "nowhere.json"],
    ],
    ids=["nothing", "both", "no label", "no file"],
)
def test_what_cannot_be_sent_is_wrong_usage(arguments, capsys):
    assert app.main(["alert", "send", *arguments]) == 2
    assert capsys.readouterr().err.startswith("tocsin: ")


@pytest.mark.parametrize("command", [["send", "x"], ["test"]], ids=lambda command: command[0])
def test_without_a_running_tocsin_or_an_address_nobody_answers(
    command, capsys, tmp_path, monkeypatch
):
    monkeypatch.delenv("TOCSIN_INGEST_URL", raising=False)
    assert app.main(["alert", *command, "--data", str(tmp_path)]) == 4
    assert "TOCSIN_INGEST_URL" in capsys.readouterr().err
