"""Socket Mode: clicks and questions over a connection that we open, where Slack reaches nobody."""

import asyncio
import json
from typing import Any

from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from tocsin_kit import logging
from tocsin_kit.errors import TocsinError
from tocsin_notifier.channels.slack.clicks import Clicks
from tocsin_notifier.channels.slack.questions import Questions
from tocsin_notifier.channels.slack.web import Web

CONNECT_SECONDS, LOOK_SECONDS = 30.0, 20.0
MOST_MISSED = 3
"""Looks at a lost connection before it is given up: the client may hold on to a dead address."""

log = logging.get(__name__)


class Socket:
    """Listens until it is cancelled; a connection that is lost for good is made anew."""

    def __init__(
        self,
        app_token: str,
        web: Web,
        clicks: Clicks,
        questions: Questions,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._app_token = app_token
        self._web = web
        self._clicks = clicks
        self._questions = questions
        self._look_seconds = look_seconds

    async def listen(self) -> None:
        """Take clicks and questions, and answer each at once."""
        while True:
            client: Any = SocketModeClient(
                self._app_token, logger=self._web.client.logger, web_client=self._web.client
            )
            client.socket_mode_request_listeners.append(self._on)
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    await client.connect()
                log.info("slack.socket_connected")
                await self._stay(client)
            except TimeoutError:
                pass
            finally:
                await client.close()
            log.warning("slack.socket_lost", why="no connection; check TOCSIN_SLACK_APP_TOKEN")

    async def _stay(self, client: AsyncBaseSocketModeClient) -> None:
        """Return once the connection was away for several looks."""
        missed = 0
        while missed < MOST_MISSED:
            await asyncio.sleep(self._look_seconds)
            missed = 0 if await client.is_connected() else missed + 1

    async def _on(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        reply = None
        try:
            if request.type == "interactive":
                reply = self._clicks.take(json.dumps(request.payload))
            elif request.type == "events_api":
                self._questions.take(json.dumps(request.payload))
        except TocsinError as error:
            log.warning("slack.not_taken", kind=request.type, why=str(error))
        await client.send_socket_mode_response(
            SocketModeResponse(envelope_id=request.envelope_id, payload=reply)
        )
