"""People in a fake Slack: their clicks as payloads, and as Slack signs them."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from tocsin_testing.slack.world import APP, CHANNEL, SECRET, TEAM

Json = dict[str, Any]


def buttons(message: Mapping[str, Any]) -> dict[str, Json]:
    """Return the buttons of a message by their action."""
    rows = [block for block in message["blocks"] if block["type"] == "actions"]
    return {button["action_id"]: button for row in rows for button in row["elements"]}


def clicked(message: Mapping[str, Any], action: str, by: str = "U0001", **changes: Any) -> Json:
    """Return what Slack tells of a click on a button of a message."""
    return {
        "type": "block_actions",
        "api_app_id": APP,
        "team": {"id": TEAM, "domain": "shop"},
        "user": {"id": by, "name": "ana", "team_id": TEAM},
        "channel": {"id": message["channel"]},
        "container": {"type": "message", "message_ts": message["ts"]},
        "message": {"ts": message["ts"], "blocks": message["blocks"]},
        "trigger_id": "1.2.3",
        "response_url": "",
        "actions": [{**buttons(message)[action], "type": "button", "action_ts": "1.2"}],
    } | changes


def sent(window: Mapping[str, Any], reason: str | None, by: str = "U0001", **changes: Any) -> Json:
    """Return what Slack tells of a window that a person filled in and sent."""
    view = window["view"]
    (field,) = [block["block_id"] for block in view["blocks"]]
    typed = {field: {field: {"type": "plain_text_input", "value": reason}}}
    return {
        "type": "view_submission",
        "api_app_id": APP,
        "team": {"id": TEAM, "domain": "shop"},
        "user": {"id": by, "name": "ana", "team_id": TEAM},
        "view": {**view, "state": {"values": typed}},
        "response_urls": [],
    } | changes


def form(payload: Mapping[str, Any]) -> bytes:
    """Return the body of a request that tells of an interaction."""
    return urlencode({"payload": json.dumps(payload)}).encode()


def signed(body: bytes, at: datetime, secret: str = SECRET) -> dict[str, str]:
    """Return the headers of a request as Slack sends it at this time."""
    timestamp = str(int(at.timestamp()))
    text = f"v0:{timestamp}:".encode() + body
    return {
        "content-type": "application/x-www-form-urlencoded",
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": f"v0={hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()}",
    }


def written(text: str, thread: str, by: str = "U0001", **changes: Any) -> Json:
    """Return what Slack tells of a message in a thread that calls the app."""
    said = {
        "type": "app_mention",
        "user": by,
        "text": text,
        "ts": "1700000009.000100",
        "thread_ts": thread,
        "channel": CHANNEL,
    }
    return {
        "type": "event_callback",
        "team_id": TEAM,
        "api_app_id": APP,
        "event_id": "Ev1",
        "event": said | changes,
    }
