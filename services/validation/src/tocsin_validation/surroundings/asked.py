"""How one question is asked: within a deadline, and with a reason in place of no answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tocsin_contracts import FailureCode
from tocsin_kit.errors import TocsinError
from tocsin_kit.untrusted import line
from tocsin_validation.facts import Known, told
from tocsin_validation.surroundings.refusals import code_of

T = TypeVar("T")


class NotTold(TocsinError):  # noqa: N818 - says what happened
    """The question has no answer; the message says why, in words for people."""

    def __init__(self, why: str, code: FailureCode) -> None:
        super().__init__(why)
        self.code = code


async def asked(ask: Callable[[], Awaitable[T]], seconds: float) -> Known[T]:
    """Return the answer, or why there is none: a refusal here fails no run."""
    try:
        async with asyncio.timeout(seconds):
            return told(await ask())
    except NotTold as error:
        return Known(None, str(error), error.code)
    except TimeoutError:
        return Known(None, f"there was no answer within {seconds:g} s", FailureCode.TIMEOUT)
    except TocsinError as error:
        return Known(None, line(str(error), 300), code_of(str(error)))
