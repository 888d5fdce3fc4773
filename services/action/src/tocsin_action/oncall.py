"""Who is on call for a team: read from a file of the operator's each time somebody is asked."""

import hashlib
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    NaiveDatetime,
    RootModel,
    ValidationError,
    field_validator,
    model_validator,
)

from tocsin_gitops import plain_yaml
from tocsin_kit import logging

log = logging.get(__name__)


class Shift(BaseModel):
    """One person from an instant to another."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    person: str
    start: AwareDatetime = Field(alias="from")
    end: AwareDatetime = Field(alias="to")

    @model_validator(mode="after")
    def _forwards(self) -> Self:
        if self.end <= self.start:
            raise ValueError(f"the shift of {self.person!r} ends before it starts")
        return self


class Rotation(BaseModel):
    """People in turn, each for some days; the turn changes at the same hour on the wall."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    people: tuple[str, ...] = Field(min_length=1)
    start: NaiveDatetime = Field(description="When the first turn began, by the zone's clocks.")
    days: int = Field(ge=1)
    zone: str = "UTC"

    @field_validator("zone")
    @classmethod
    def _known(cls, zone: str) -> str:
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError(f"{zone!r} is no time zone, such as Europe/Berlin") from None
        return zone

    def person(self, at: datetime) -> str:
        """Return whose turn it is; nobody's before the first."""
        zone, turn = ZoneInfo(self.zone), timedelta(days=self.days)
        number = (at.astimezone(zone).replace(tzinfo=None) - self.start) // turn
        # The clocks may be set back over a change of turns: what counts is when it came first.
        if (self.start + turn * (number + 1)).replace(tzinfo=zone) <= at:
            number += 1
        return self.people[number % len(self.people)] if number >= 0 else ""


Duty = tuple[Shift, ...] | Rotation


class Rota(RootModel[Mapping[str, Duty]]):
    """Who is on call, by team; the team `` is every other one."""

    def person(self, team: str, at: datetime) -> str:
        """Return who is on call for a team at a time, or an empty string."""
        duty = self.root.get(team) or self.root.get("") or ()
        if isinstance(duty, Rotation):
            return duty.person(at)
        return next((one.person for one in duty if one.start <= at < one.end), "")

    @property
    def people(self) -> frozenset[str]:
        """Everybody whom it names."""
        duties = self.root.values()
        turns = (d.people if isinstance(d, Rotation) else [s.person for s in d] for d in duties)
        return frozenset(who for people in turns for who in people)


class OnCall:
    """The rota of a file, as it is now; while the file is bad, the last good one."""

    def __init__(self, file: Path | None, approvers: Collection[str]) -> None:
        self._file = file
        self._approvers = frozenset(approvers)
        self._rota = Rota({})
        self._checksum = ""

    def person(self, team: str, now: datetime) -> str:
        """Return who is on call for a team, or an empty string."""
        if self._file is not None:
            self._look(self._file)
        return self._rota.person(team, now)

    def _look(self, file: Path) -> None:
        try:
            data = file.read_bytes()
        except OSError as error:
            log.warning("oncall.not_read", file=str(file), why=str(error))
            return
        checksum = hashlib.sha256(data).hexdigest()
        if checksum == self._checksum:
            return
        self._checksum = checksum
        try:
            self._rota = self._read(data)
        except ValueError as error:
            log.warning("oncall.kept_the_last_good", file=str(file), why=_said(error))

    def _read(self, data: bytes) -> Rota:
        rota = Rota.model_validate(plain_yaml.load(data.decode()) or {})
        strangers = rota.people - self._approvers
        if strangers:
            named = ", ".join(sorted(strangers))
            raise ValueError(f"{named}: everybody on call is one of TOCSIN_APPROVERS")
        return rota


def _said(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
