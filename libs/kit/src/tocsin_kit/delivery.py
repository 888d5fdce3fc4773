"""What becomes of a message: heartbeat while it is handled, then ack, nak with delay, or park."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from faststream import BaseMiddleware, StreamMessage
from faststream.exceptions import HandlerException, NackMessage, RejectMessage
from nats.errors import Error as NatsError
from structlog.contextvars import bound_contextvars

from tocsin_kit import logging
from tocsin_kit.errors import NotYetError, PermanentError, TransientError
from tocsin_kit.heartbeat import Vitals
from tocsin_kit.metrics import Counter

BACKOFF = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before a message that met a bug is given again."""

GIVEN_UP = Counter("tocsin_messages_parked_total", "Messages that became dead letters.")

Park = Callable[[StreamMessage[Any], str], Awaitable[None]]
log = logging.get(__name__)


def delivery(ack_wait: float, park: Park, vitals: Vitals) -> type[BaseMiddleware]:
    """Return the middleware of one service: it owns the fate of every message."""

    class Delivery(BaseMiddleware):
        async def consume_scope(
            self, call_next: Callable[[Any], Awaitable[Any]], msg: StreamMessage[Any]
        ) -> Any:
            event_id = msg.headers.get("Nats-Msg-Id", "")
            run_id = msg.raw_message.subject.rsplit(".", 1)[-1]
            beating = asyncio.create_task(_beat(msg, ack_wait / 3))
            try:
                with vitals.handling(), bound_contextvars(run_id=run_id, event_id=event_id):
                    return await _classified(call_next, msg, park, vitals)
            finally:
                beating.cancel()
                await asyncio.wait([beating])

    return Delivery


async def _classified(
    call_next: Callable[[Any], Awaitable[Any]],
    msg: StreamMessage[Any],
    park: Park,
    vitals: Vitals,
) -> Any:
    try:
        return await call_next(msg)
    except HandlerException:
        raise
    except asyncio.CancelledError:
        await msg.nack()
        raise
    except TransientError as error:
        tell = log.debug if isinstance(error, NotYetError) else log.info
        tell("delivery.retry_later", why=str(error), retry_in=error.retry_in)
        raise NackMessage(delay=error.retry_in) from error
    except PermanentError as error:
        vitals.failed(str(error))
        await _parked(park, msg, str(error))
        raise RejectMessage from error
    except Exception as error:
        tries = msg.raw_message.metadata.num_delivered
        vitals.failed(repr(error))
        log.exception("delivery.handler_broke", tries=tries)
        raise NackMessage(delay=BACKOFF[min(tries, len(BACKOFF)) - 1]) from error


async def _parked(park: Park, msg: StreamMessage[Any], cause: str) -> None:
    """Record the cause before the message is ended; without a record it stays."""
    log.error("delivery.message_parked", cause=cause, subject=msg.raw_message.subject)
    try:
        await park(msg, cause)
        GIVEN_UP.inc()
    except Exception as error:
        delay = error.retry_in if isinstance(error, TransientError) else BACKOFF[-1]
        log.exception("delivery.not_parked_yet", retry_in=delay)
        raise NackMessage(delay=delay) from error


async def _beat(msg: StreamMessage[Any], every: float) -> None:
    while True:
        await asyncio.sleep(every)
        with suppress(NatsError):
            await msg.raw_message.in_progress()
