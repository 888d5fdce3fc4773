"""Settings of Slack: what has to be there together, and that nothing of it is loaded without."""

import re
from pathlib import Path

import pytest

from tocsin_kit.errors import PermanentError
from tocsin_notifier import app, channels
from tocsin_notifier.settings import Settings

WHOLE = {
    "TOCSIN_SLACK_BOT_TOKEN": "xoxb-secret",
    "TOCSIN_SLACK_CHANNEL": "C0123",
    "TOCSIN_NOTIFY_CHANNELS": '["log", "slack"]',
}


def loaded(monkeypatch, **changes):
    for name, value in (WHOLE | changes).items():
        if value is not None:
            monkeypatch.setenv(name, value)
    return Settings.load()


def test_a_token_and_a_channel_are_enough(monkeypatch):
    settings = loaded(monkeypatch)
    assert settings.slack_channel == "C0123"
    assert "xoxb-secret" not in repr(settings)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"TOCSIN_SLACK_CHANNEL": None}, "TOCSIN_SLACK_CHANNEL"),
        ({"TOCSIN_SLACK_CHANNEL": "#ops"}, "slack_channel"),
        ({"TOCSIN_SLACK_ROUTES": '{"payments": "#pay"}'}, "slack_routes"),
        ({"TOCSIN_NOTIFY_CHANNELS": '["log"]'}, "TOCSIN_NOTIFY_CHANNELS"),
        ({"TOCSIN_SLACK_APPROVERS": '{"ana": "ana"}'}, "TOCSIN_SLACK_APPROVERS"),
        ({"TOCSIN_SLACK_APPROVERS": '{"U0456": "ana"}'}, "TOCSIN_SLACK_APPROVERS"),
        ({"TOCSIN_SLACK_APPROVERS": '{"T1:U1": " "}'}, "an empty approver"),
        ({"TOCSIN_PUBLIC_URL": "javascript:alert(1)"}, "public_url"),
        (
            {"TOCSIN_SLACK_BOT_TOKEN": None, "TOCSIN_SLACK_SIGNING_SECRET": "x"},
            "TOCSIN_SLACK_BOT_TOKEN",
        ),
        (
            {"TOCSIN_SLACK_BOT_TOKEN": None, "TOCSIN_SLACK_APP_TOKEN": "x"},
            "TOCSIN_SLACK_BOT_TOKEN",
        ),
    ],
)
def test_what_does_not_fit_together_stops_the_start(monkeypatch, changes, wrong):
    with pytest.raises(PermanentError, match=wrong):
        loaded(monkeypatch, **changes)


def test_slack_without_a_token_stops_the_start():
    with pytest.raises(PermanentError, match="needs TOCSIN_SLACK_BOT_TOKEN"):
        channels.load(Settings(notify_channels=("slack",)))


def built(monkeypatch, **changes):
    for name, value in (WHOLE | changes).items():
        monkeypatch.setenv(name, value)
    return app.build()


async def test_clicks_come_the_way_that_is_set(monkeypatch):
    neither = built(monkeypatch)
    assert (neither.http, len(neither.background), len(neither.resources)) == (None, 1, 3)
    by_http = built(monkeypatch, TOCSIN_SLACK_SIGNING_SECRET="x")
    assert by_http.http is not None
    both = built(monkeypatch, TOCSIN_SLACK_APP_TOKEN="xapp")
    assert (both.http is not None, len(both.background)) == (True, 2)


def test_without_slack_its_library_is_not_loaded(monkeypatch):
    asked = []
    monkeypatch.setattr(app, "import_module", asked.append)
    app.build()
    assert asked == []
    source = Path(app.__file__).parent
    outside = {
        file.name
        for file in source.rglob("*.py")
        if re.search("^(from|import) .*slack", file.read_text(encoding="utf-8"), re.MULTILINE)
        if file.parent.name != "slack"
    }
    assert outside == {f"{app.ASSEMBLY.rpartition('.')[2]}.py"}
