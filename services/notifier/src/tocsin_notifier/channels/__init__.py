"""Channels. To add one: write its file, then name it in `load`."""

from collections.abc import Sequence

from pydantic import SecretStr

from tocsin_kit.errors import PermanentError
from tocsin_kit.registry import Registry
from tocsin_notifier.channels.log import LogChannel
from tocsin_notifier.channels.webhook import WebhookChannel
from tocsin_notifier.ports import Channel


def load(
    wanted: Sequence[str], webhook_url: SecretStr | None, slack: Channel | None = None
) -> list[Channel]:
    """Return the wanted channels; one that is unknown or lacks its setting stops the service."""
    known: list[Channel] = [LogChannel()]
    if webhook_url:
        known.append(WebhookChannel(webhook_url.get_secret_value()))
    elif "webhook" in wanted:
        raise PermanentError("channel 'webhook' needs TOCSIN_NOTIFY_WEBHOOK_URL")
    if slack:
        known.append(slack)
    elif "slack" in wanted:
        raise PermanentError("channel 'slack' needs TOCSIN_SLACK_BOT_TOKEN")
    registry = Registry("channels", known)
    return [registry[name] for name in wanted]
