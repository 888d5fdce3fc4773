"""Settings of the notifier service."""

import re
from typing import Annotated, ClassVar, Self

from pydantic import Field, SecretStr, StringConstraints, model_validator

from tocsin_kit.settings import ServiceSettings
from tocsin_notifier.rules.table import Rules

ChannelId = Annotated[str, StringConstraints(pattern=r"^([CGD][A-Z0-9]{2,20})?$")]
WebAddress = Annotated[str, StringConstraints(pattern=r"^(https?://[^\s<>|\"]+)?$")]
_PERSON = re.compile(r"[TE][A-Z0-9]{1,20}:[UW][A-Z0-9]{1,20}")


class Settings(ServiceSettings):
    """Everything an operator can change about the notifier."""

    service: ClassVar[str] = "notifier"

    notifier_port: int = Field(default=9486, ge=0, le=65535, description="Port of the probes.")
    notify_channels: tuple[str, ...] = Field(
        default=("log",),
        description="Channels of what no route matches: log, webhook, slack, and those of "
        "TOCSIN_NOTIFY by name.",
    )
    notify: Rules = Field(
        default_factory=Rules,
        description="More channels, routes and quiet hours: docs/channels.md.",
    )
    notify_webhook_url: SecretStr | None = Field(
        default=None, description="Where the webhook channel posts; its address is a secret."
    )
    notify_webhook_secret: SecretStr | None = Field(
        default=None,
        description="Signing secret of the webhook channel, `whsec_…`; two, with a space between, "
        "allow a rotation.",
    )
    public_url: WebAddress = Field(
        default="", description="Where people reach the console; messages link to it."
    )
    slack_bot_token: SecretStr | None = Field(
        default=None, description="Bot token of the Slack app, `xoxb-…`."
    )
    slack_signing_secret: SecretStr | None = Field(
        default=None, description="Signing secret of the Slack app: clicks come by HTTP."
    )
    slack_app_token: SecretStr | None = Field(
        default=None, description="App-level token, `xapp-…`: clicks come by Socket Mode."
    )
    slack_app_id: str = Field(
        default="", description="Id of the Slack app; clicks of another one decide nothing."
    )
    slack_channel: ChannelId = Field(
        default="", description="Id of the Slack channel that messages go to."
    )
    slack_routes: dict[str, ChannelId] = Field(
        default_factory=dict, description="Ids of the Slack channels of teams, by team."
    )
    slack_approvers: dict[str, str] = Field(
        default_factory=dict,
        description="Approvers by their ids in Slack, `<team id>:<user id>`.",
    )
    slack_api_url: WebAddress = Field(
        default="https://slack.com/api/", description="Address of Slack's Web API."
    )
    slack_hooks_url: WebAddress = Field(
        default="https://hooks.slack.com/",
        description="The only host that answers to clicks go to.",
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.slack_bot_token is None:
            if self.slack_signing_secret or self.slack_app_token:
                raise ValueError("Slack needs TOCSIN_SLACK_BOT_TOKEN too")
            return self
        if not self.slack_channel:
            raise ValueError("Slack needs TOCSIN_SLACK_CHANNEL, the id of a channel")
        if "slack" not in self.notify_channels:
            raise ValueError("a token of Slack is set: add slack to TOCSIN_NOTIFY_CHANNELS")
        wrong = [one for one in self.slack_approvers if not _PERSON.fullmatch(one)]
        if wrong or not all(one.strip() for one in self.slack_approvers.values()):
            raise ValueError(
                'TOCSIN_SLACK_APPROVERS is {"<team id>:<user id>": "<approver>"}, such as '
                f'{{"T0123:U0456": "ana"}}; wrong: {wrong or "an empty approver"}'
            )
        return self
