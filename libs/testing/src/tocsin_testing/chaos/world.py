"""The whole pipeline as processes, with a forge and a Slack that may be in trouble."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import yaml
from nats.js.api import RawStreamMsg

from tocsin_contracts import BY_TOPIC, PREFIX, Event, RunId, RunState
from tocsin_kit.topology import PARKED
from tocsin_testing.chaos.chance import Chance
from tocsin_testing.chaos.forge_log import LoggedForge
from tocsin_testing.chaos.history import Card, History, Said
from tocsin_testing.forges import web
from tocsin_testing.forges.bare import Bare
from tocsin_testing.forges.gitea import FakeGitea
from tocsin_testing.forges.loose import Loose
from tocsin_testing.git_http import GitServer
from tocsin_testing.git_http import serving as serving_git
from tocsin_testing.pipeline import API_TOKEN, INGEST_TOKEN, Pipeline, pipeline
from tocsin_testing.slack.server import SlackServer
from tocsin_testing.slack.server import serving as serving_slack
from tocsin_testing.slack.world import APP_TOKEN, CHANNEL, SECRET, TOKEN
from tocsin_testing.wire import Wire, wire

NAME, HOST, FORGE_TOKEN = "shop/platform-gitops", "git.acme.example", "bot-token"
SECRETS = (API_TOKEN, INGEST_TOKEN, FORGE_TOKEN, TOKEN, APP_TOKEN, SECRET)
STRANGE = "strange-"
"""What the ids of messages begin with that no service wrote."""

WORDS = {
    "Investigating": RunState.INVESTIGATING,
    "Cause found, a change is being checked": RunState.VALIDATING,
    "Approved, the pull request is being made": RunState.APPLYING,
    "Nobody can decide about this plan any more": RunState.VALIDATING,
    "Approved": RunState.APPLYING,
    "Waiting for a decision": RunState.AWAITING_APPROVAL,
    "The pull request waits for its merge": RunState.PR_OPEN,
    "Merged, the alerts are watched": RunState.PR_MERGED,
    "Resolved": RunState.RESOLVED,
    "Ended without a change": RunState.NO_CHANGE,
    "Ended: a rule says that nobody is needed": RunState.SUPPRESSED,
    "Ended: another run looks after it": RunState.SUPERSEDED,
    "A person has to take over": RunState.ESCALATED,
    "Rejected": RunState.REJECTED,
    "Expired: nobody decided in time": RunState.EXPIRED,
    "Cancelled": RunState.CANCELLED,
    "Failed": RunState.FAILED,
}
"""How people read each state on a card."""

_RUN = re.compile(r"Run ([A-Za-z0-9_-]+)")


@dataclass
class World:
    """Everything that faults are done to, and what its clients did."""

    running: Pipeline
    forge: LoggedForge
    slack: SlackServer
    bus: Wire
    chance: Chance
    taken: list[RunId] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)
    did: list[str] = field(default_factory=list)

    async def facts(self) -> list[Event]:
        """Return every fact that a service published, in the order of the stream."""
        return [
            BY_TOPIC[_topic(message)].model_validate_json(message.data or b"")
            for message in await self.bus.stored()
            if not (message.headers or {}).get("Nats-Msg-Id", "").startswith(STRANGE)
        ]

    async def history(self) -> History:
        """Return what all of it left behind."""
        letters = [json.loads(message.data or b"") for message in await self.bus.stored(PARKED)]
        strange = [one for one in letters if one["event_id"].startswith(STRANGE)]
        return History(
            facts=tuple(await self.facts()),
            taken=tuple(self.taken),
            said=tuple(self.said),
            commits=tuple(self.forge.commits),
            pulls=self.forge.pulls,
            cards=tuple(_cards(self.slack.world.parents)),
            waiting=await self.bus.waiting(),
            parked=tuple(one["cause"] for one in letters if one not in strange),
            secrets=SECRETS,
            places={
                "the log": "\n".join(self.running.log),
                "Slack": json.dumps(self.slack.world.messages),
                "pull requests": "".join(p.title + p.body for p in self.forge.fake.pulls),
            },
        )


@asynccontextmanager
async def world(folder: Path, chance: Chance) -> AsyncIterator[World]:
    """Start all of it on real servers; leave nothing running."""
    owner = folder / "remote/shop"
    owner.mkdir(parents=True)
    git_dir = folder / "platform-gitops.git"
    (owner / git_dir.name).symlink_to(git_dir)
    packed = cast("Loose", Bare(git_dir))  # what the stage makes is packed, and git reads that too
    forge = LoggedForge(FakeGitea(NAME, packed), chance)
    git = GitServer(folder / "remote", FORGE_TOKEN)
    with web.serving(forge) as api, serving_git(git) as url:
        async with AsyncExitStack() as stack:
            slack = await stack.enter_async_context(serving_slack())
            told = _repository(folder, api + forge.prefix, url) | _slack(slack)
            running = await stack.enter_async_context(pipeline(folder, settings=told))
            bus = await stack.enter_async_context(wire(running.nats_server.url))
            yield World(running, forge, slack, bus, chance)


def _topic(message: RawStreamMsg) -> str:
    return (message.subject or "").removeprefix(f"{PREFIX}.").rpartition(".")[0]


def _repository(folder: Path, api: str, git: str) -> dict[str, str]:
    provider = {"host": HOST, "type": "gitea", "api_base": api, "git_base": git}
    file = folder / "remote.yaml"
    known: dict[str, Any] = {
        "providers": [{**provider, "token_env": "ACME_TOKEN"}],
        "repositories": [{"name": NAME, "host": HOST, "paths": ["apps/**"]}],
    }
    file.write_text(yaml.safe_dump(known), encoding="utf-8")
    return {"TOCSIN_GITOPS_FILE": str(file), "ACME_TOKEN": FORGE_TOKEN}


def _slack(slack: SlackServer) -> dict[str, str]:
    return {
        "TOCSIN_NOTIFY_CHANNELS": '["slack"]',
        "TOCSIN_SLACK_BOT_TOKEN": TOKEN,
        "TOCSIN_SLACK_SIGNING_SECRET": SECRET,
        "TOCSIN_SLACK_APP_TOKEN": APP_TOKEN,
        "TOCSIN_SLACK_CHANNEL": CHANNEL,
        "TOCSIN_SLACK_API_URL": slack.api_url,
        "TOCSIN_SLACK_HOOKS_URL": f"{slack.url}/",
    }


def _cards(messages: list[dict[str, Any]]) -> Iterator[Card]:
    for message in messages:
        blocks = message.get("blocks", [])
        footer = json.dumps([block for block in blocks if block["type"] == "context"])
        if found := _RUN.search(footer):
            shown = json.dumps(blocks)
            headline = next((words for words in WORDS if f"*{words}*" in shown), "")
            yield Card(RunId(found.group(1)), WORDS.get(headline))
