"""Channels. To add one: write its file, then name it here."""

from collections.abc import Callable, Mapping

from pydantic import SecretStr

from tocsin_kit.errors import PermanentError
from tocsin_kit.registry import Registry
from tocsin_kit.secret_refs import SecretRef
from tocsin_notifier.channels import discord, google_chat, mattermost, teams, webhook
from tocsin_notifier.channels.email import EmailChannel
from tocsin_notifier.channels.log import LogChannel
from tocsin_notifier.channels.webhook import WebhookChannel
from tocsin_notifier.hooks import Hook, HookChannel, Post
from tocsin_notifier.ports import Channel, Message
from tocsin_notifier.rules.options import (
    EmailOptions,
    HookOptions,
    Options,
    WebhookOptions,
)
from tocsin_notifier.settings import Settings

_WRITTEN: Mapping[str, Callable[[Message], Post]] = {
    "teams": teams.write,
    "discord": discord.write,
    "mattermost": mattermost.write,
    "google_chat": google_chat.write,
}

_URL, _SECRET = "TOCSIN_NOTIFY_WEBHOOK_URL", "TOCSIN_NOTIFY_WEBHOOK_SECRET"


def load(settings: Settings, slack: Channel | None = None) -> list[Channel]:
    """Return the usual channels, then those of routes.

    One that is unknown, or lacks what it needs, stops the service.
    """
    known: list[Channel] = [LogChannel(), *map(made, settings.notify.channels)]
    wanted = [*settings.notify_channels, *sorted(settings.notify.names)]
    if settings.notify_webhook_url:
        known.append(_webhook(settings.notify_webhook_url, settings.notify_webhook_secret))
    elif "webhook" in wanted:
        raise PermanentError(f"channel 'webhook' needs {_URL}")
    if slack:
        known.append(slack)
    elif "slack" in wanted:
        raise PermanentError("channel 'slack' needs TOCSIN_SLACK_BOT_TOKEN")
    registry = Registry("channels", known)
    return [registry[name] for name in dict.fromkeys(wanted)]


def made(options: Options) -> Channel:
    """Return the channel that an operator described, with its secrets read."""
    name = options.name
    match options:
        case HookOptions():
            return HookChannel(name, _hook(name, options.url), _WRITTEN[options.type])
        case WebhookOptions():
            secrets = webhook.keys(*_read(name, options.secret)) if options.secret else ()
            return WebhookChannel(name, _hook(name, options.url), secrets)
        case EmailOptions():
            password = _read(name, options.password)[0] if options.password else None
            return EmailChannel(options, password)


def _webhook(url: SecretStr, secret: SecretStr | None) -> Channel:
    secrets = webhook.keys(secret, f"channel 'webhook': {_SECRET}")
    return WebhookChannel("webhook", Hook("webhook", url, _URL), secrets)


def _hook(name: str, url: SecretRef) -> Hook:
    return Hook(name, _read(name, url)[0], url.place)


def _read(name: str, secret: SecretRef) -> tuple[SecretStr, str]:
    """Return a secret, and whose it is and where, for an error."""
    whose = f"channel {name!r}"
    return secret.read(whose), f"{whose}: {secret.place}"
