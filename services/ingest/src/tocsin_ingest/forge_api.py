"""The endpoint of forges: verify, read, find the run, answer only once the fact is stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tocsin_contracts import ForgeEventReceived, ForgeKind
from tocsin_contracts.views import DeliveryReceipt
from tocsin_ingest import decoding
from tocsin_ingest.edge import answers
from tocsin_ingest.edge.answers import RefusedError
from tocsin_ingest.edge.bodies import Limits, payload_of
from tocsin_ingest.edge.counting import Reason
from tocsin_ingest.edge.door import Door, Entered
from tocsin_ingest.edge.gate import Gate
from tocsin_ingest.forge_hooks import HOOKS
from tocsin_ingest.ports import BadPayloadError, Delivery, Publisher, PullRuns
from tocsin_ingest.senders import Auth, Sender
from tocsin_kit import logging
from tocsin_kit.clock import Clock, SystemClock
from tocsin_kit.errors import TransientError

log = logging.get(__name__)


class ForgeApi:
    """Takes webhooks of the forges that have a secret; 202 means that the bus has stored it."""

    def __init__(
        self,
        secrets: Mapping[ForgeKind, Sequence[SecretStr]],
        pulls: PullRuns,
        publisher: Publisher,
        *,
        limits: Limits | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._pulls = pulls
        self._publisher = publisher
        self._limits = limits or Limits()
        self._clock = clock or SystemClock()
        senders = {
            forge.value: Sender(auth=Auth.SIGNATURE, secrets=tuple(known))
            for forge, known in secrets.items()
        }
        self._configured = frozenset(senders)
        self._door = Door(Gate(senders, (), dev=False), self._limits, self._clock)

    def routes(self) -> list[Route]:
        """Return the endpoint."""
        return [Route("/forge/{forge}", self.receive, methods=["POST"])]

    async def receive(self, request: Request) -> Response:
        """Take one webhook of a forge."""
        forge = self._forge(request.path_params["forge"])
        request.state.source = forge.value
        with self._door.room() as place:
            greeted = self._door.greet(request, forge)
            entered = await self._door.enter(request, greeted, place)
            self._door.charge(entered.known, 1)
            event = self._read(entered, forge)
            if event is None:
                return answers.accepted(DeliveryReceipt(status="nothing to do"))
            return answers.accepted(await self._store(event))

    def _forge(self, name: str) -> ForgeKind:
        """A forge without a secret could be anybody: it is answered as one that does not exist."""
        if name not in self._configured:
            known = ", ".join(sorted(self._configured)) or "none"
            hint = f"set its secret in TOCSIN_FORGE_SECRETS; configured: {known}"
            raise RefusedError(404, Reason.NO_SUCH_PATH, f"no forge {name!r}", hint)
        return ForgeKind(name)

    def _read(self, entered: Entered, forge: ForgeKind) -> ForgeEventReceived | None:
        sent = payload_of(entered.headers, entered.body, self._limits, takes_forms=True)
        try:
            delivery = Delivery(
                payload=_unwrapped(sent), received_at=self._clock.now(), headers=entered.headers
            )
            return HOOKS[forge](delivery)
        except decoding.UndecodableError as error:
            raise RefusedError(400, Reason.UNDECODABLE, str(error), "send JSON") from None
        except BadPayloadError as error:
            hint = "see docs/forge-webhooks.md for the events to choose"
            raise RefusedError(422, Reason.NO_ALERT, str(error), hint) from None

    async def _store(self, event: ForgeEventReceived) -> DeliveryReceipt:
        try:
            run_id = await self._pulls.run_of(event.repo, event.head_branch, event.url)
            known = event.model_copy(update={"run_id": run_id}) if run_id else event
            await self._publisher.publish(known)
        except TransientError as error:
            log.warning("ingest.not_stored", why=str(error))
            raise answers.unavailable(
                Reason.NOT_STORED, "the event could not be stored", "deliver it again"
            ) from error
        log.info("ingest.forge_event", kind=event.kind, repo=event.repo, run=run_id)
        return DeliveryReceipt(
            status="accepted",
            run_id=run_id or "",
            thread_id=run_id or "",
            poll_url=answers.poll_url(run_id or ""),
        )


def _unwrapped(sent: Any) -> Any:
    """GitHub, unless told to send JSON, sends a form with the JSON in its only field."""
    if isinstance(sent, dict) and list(sent) == ["payload"] and isinstance(sent["payload"], str):
        return decoding.json_of(sent["payload"].encode())
    return sent
