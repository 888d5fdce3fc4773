"""How Slack is: whether the token is good for what we do, and whether a click would arrive."""

import json
from collections.abc import Iterable
from http import HTTPStatus
from secrets import token_hex
from urllib.parse import urlencode

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from tocsin_contracts.doctor import Condition, Finding
from tocsin_kit.clock import Clock
from tocsin_notifier.channels.slack import signature
from tocsin_notifier.channels.slack.clicks import PING
from tocsin_notifier.channels.slack.web import Web
from tocsin_notifier.settings import Settings

SECONDS = 5.0
NEEDED = frozenset({"chat:write"})
READING = frozenset({"channels:history", "groups:history"})
SOURCE_OF_SCOPES = "x-oauth-scopes"


async def examine(settings: Settings, address: str, clock: Clock) -> list[Finding]:
    """Return how everything is; `address` is that of the notifier's port."""
    token, secret = settings.slack_bot_token, settings.slack_signing_secret
    if token is None:
        told = "Slack is not set up"
        return [_found("token", Condition.UNKNOWN, told, "set TOCSIN_SLACK_BOT_TOKEN, or nothing")]
    async with Web(token.get_secret_value(), settings.slack_api_url) as web:
        found = [await _token(web)]
        if found[0].condition is not Condition.PROBLEM:
            channels = dict.fromkeys((settings.slack_channel, *settings.slack_routes.values()))
            found += [await _channel(web, channel) for channel in channels if channel]
    if secret:
        found.append(await click(address, secret.get_secret_value(), clock))
    elif settings.slack_app_token:
        told = "clicks come over a socket: nobody can send oneself one"
        found.append(_found("click", Condition.UNKNOWN, told, "click a button, see the log"))
    else:
        told = "messages have no buttons"
        found.append(_found("click", Condition.WARNING, told, "set TOCSIN_SLACK_SIGNING_SECRET"))
    if not settings.slack_approvers:
        told = "nobody in Slack is an approver"
        found.append(_found("people", Condition.WARNING, told, "set TOCSIN_SLACK_APPROVERS"))
    return found


async def click(address: str, secret: str, clock: Clock) -> Finding:
    """Sign a click that decides nothing, as Slack would, and see whether it arrives."""
    mark, at = token_hex(8), str(int(clock.now().timestamp()))
    body = urlencode({"payload": json.dumps(_payload(mark))}).encode()
    headers = {
        signature.TIMESTAMP: at,
        signature.SIGNATURE: signature.sign(secret.encode(), body, at),
        "Content-Type": "application/x-www-form-urlencoded",
    }
    url, timeout = f"{address}/slack/interactivity", aiohttp.ClientTimeout(total=SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as http,
            http.post(url, data=body, headers=headers) as answer,
        ):
            text = await answer.text()
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        told, do = f"{url} does not answer: {type(error).__name__}", "start the notifier"
        return _found("click", Condition.PROBLEM, told, do)
    if answer.status == HTTPStatus.OK and mark in text:
        return _found("click", Condition.OK, f"a signed click arrived at {url}")
    told = f"{url} answered {answer.status} to a signed click"
    do = "let the notifier have the same TOCSIN_SLACK_SIGNING_SECRET and the right time"
    return _found("click", Condition.PROBLEM, told, do)


def _payload(mark: str) -> dict[str, object]:
    action = {"action_id": PING, "value": mark}
    return {"type": "block_actions", "user": {"id": "U0"}, "actions": [action]}


async def _token(web: Web) -> Finding:
    try:
        answer = await web.client.api_call("auth.test")
    except SlackApiError as error:
        do = "take a new one from *OAuth & Permissions*"
        return _found("token", Condition.PROBLEM, f"Slack says {_said(error)}", do)
    except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
        told = f"Slack does not answer: {type(error).__name__}"
        return _found("token", Condition.UNKNOWN, told, "let the notifier reach Slack")
    given = {name.lower(): value for name, value in answer.headers.items()}
    scopes = {one.strip() for one in str(given.get(SOURCE_OF_SCOPES, "")).split(",")} - {""}
    who = f"{answer.get('user', 'a bot')} in {answer.get('team', 'a workspace')}"
    return _scopes(who, scopes)


def _scopes(who: str, scopes: Iterable[str]) -> Finding:
    has = frozenset(scopes)
    if not has:
        told = f"{who}; Slack does not say which scopes"
        return _found("token", Condition.UNKNOWN, told, "see docs/slack.md for those it needs")
    if missing := NEEDED - has:
        told = f"{who} lacks {', '.join(sorted(missing))}"
        return _found("token", Condition.PROBLEM, told, "add it and install the app again")
    if not READING & has:
        told = f"{who} cannot read its channel: a message may stand twice after a crash"
        return _found("token", Condition.WARNING, told, "add channels:history or groups:history")
    return _found("token", Condition.OK, f"{who}, with {', '.join(sorted(has))}")


async def _channel(web: Web, channel: str) -> Finding:
    thing = f"channel {channel}"
    try:
        asked = {"channel": channel, "limit": "1"}
        await web.client.api_call("conversations.history", http_verb="GET", params=asked)
    except SlackApiError as error:
        said = _said(error)
        if said in ("not_in_channel", "channel_not_found"):
            do = "invite it: `/invite @tocsin`, and check the id"
            return _found(thing, Condition.PROBLEM, f"Slack says {said}", do)
        do = "add channels:history, or look whether the app is a member"
        return _found(thing, Condition.UNKNOWN, f"Slack says {said}", do)
    except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
        told = f"Slack does not answer: {type(error).__name__}"
        return _found(thing, Condition.UNKNOWN, told, "try again")
    return _found(thing, Condition.OK, "the app is in it")


def _said(error: SlackApiError) -> str:
    return str((getattr(error.response, "data", None) or {}).get("error") or "no")


def _found(thing: str, condition: Condition, told: str, do: str = "") -> Finding:
    return Finding(part="slack", thing=thing, condition=condition, told=told, do=do)
