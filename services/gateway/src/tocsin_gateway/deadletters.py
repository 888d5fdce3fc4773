"""The addresses of dead letters: everybody may look, operators give again or throw away."""

from typing import Annotated, Protocol

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field

from tocsin_contracts.operations import (
    DeadLetter,
    DeadLetterDiscarded,
    DeadLetterPage,
    DeadLetterReplayed,
)
from tocsin_contracts.roles import Role
from tocsin_gateway.access import Principal, needs
from tocsin_gateway.refusals import RefusedError
from tocsin_kit.parked import NotReplayedError, UnknownLetterError

Operator = Annotated[Principal, Depends(needs(Role.OPERATOR))]
Number = Annotated[int, Path(ge=1, description="Of the letter.")]


class Letters(Protocol):
    """The dead letters of every service."""

    async def newest(self, limit: int = 50, before: int = 0) -> DeadLetterPage:
        """Return the newest letters without their bodies."""

    async def get(self, number: int) -> DeadLetter | None:
        """Return a letter, or None."""

    async def replay(self, number: int, by: str, reason: str = "") -> DeadLetterReplayed:
        """Have the message given again."""

    async def discard(self, number: int, by: str, reason: str) -> DeadLetterDiscarded:
        """Remove a letter for good."""


class Replay(BaseModel):
    """Why a message should be given again."""

    reason: str = Field(default="", max_length=1000)


class Discard(BaseModel):
    """Why a letter is thrown away."""

    reason: str = Field(min_length=1, max_length=1000, pattern=r"\S")


class DeadLetters:
    """Answers for letters; every no says why."""

    def __init__(self, letters: Letters) -> None:
        self._letters = letters

    async def newest(self, limit: int, before: int) -> DeadLetterPage:
        """Return the newest letters."""
        return await self._letters.newest(limit, before)

    async def show(self, number: int) -> DeadLetter:
        """Return one letter with its message."""
        letter = await self._letters.get(number)
        if letter is None:
            raise _unknown(f"there is no dead letter {number}")
        return letter

    async def replay(self, number: int, by: str, reason: str) -> DeadLetterReplayed:
        """Have the message given again."""
        try:
            return await self._letters.replay(number, by, reason)
        except UnknownLetterError as error:
            raise _unknown(str(error)) from error
        except NotReplayedError as error:
            raise RefusedError(
                409, str(error), "nothing was changed; discard the letter with a reason"
            ) from error

    async def discard(self, number: int, by: str, reason: str) -> DeadLetterDiscarded:
        """Throw a letter away."""
        try:
            return await self._letters.discard(number, by, reason)
        except UnknownLetterError as error:
            raise _unknown(str(error)) from error


def routes(letters: DeadLetters) -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/api/v1/deadletters", dependencies=[Depends(needs(Role.VIEWER))])

    @router.get("")
    async def newest(
        limit: Annotated[int, Query(ge=1, le=200)] = 50, before: Annotated[int, Query(ge=0)] = 0
    ) -> DeadLetterPage:
        return await letters.newest(limit, before)

    @router.get("/{number}")
    async def show(number: Number) -> DeadLetter:
        return await letters.show(number)

    @router.post("/{number}/replay")
    async def replay(number: Number, wish: Replay, by: Operator) -> DeadLetterReplayed:
        return await letters.replay(number, by.id, wish.reason)

    @router.post("/{number}/discard")
    async def discard(number: Number, wish: Discard, by: Operator) -> DeadLetterDiscarded:
        return await letters.discard(number, by.id, wish.reason)

    return router


def _unknown(why: str) -> RefusedError:
    return RefusedError(404, why, "`tocsin dlq list` lists those that are left")
