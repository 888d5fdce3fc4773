"""What an operator says of each sender: how it proves who it is, and what its alerts go by."""

import re
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from tocsin_ingest.verifying import SCHEMES, Encoding, Scheme, SchemeName, check_secret

SHORTEST_TOKEN = 16
"""Characters below which a token can be guessed."""

SHORTEST_SECRET = 8
"""Characters below which not even a secret that a vendor made is one."""

RATE = 120_000
"""Alerts a minute: a storm of 10,000 is well below it."""


INSTANCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
"""What an instance may be called: it is part of who an alert is, so nothing in it may be odd."""


class Auth(StrEnum):
    """How a sender proves who it is."""

    BEARER = "bearer"
    BASIC = "basic"
    SIGNATURE = "signature"
    SNS = "sns"
    PROXY = "proxy"
    NONE = "none"


class Sender(BaseModel):
    """One sender, or all of one kind.

    The secrets are tokens, `user:password` pairs or signing secrets, by `auth`; while one is
    changed for another both are good.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    auth: Auth = Auth.BEARER
    secrets: tuple[SecretStr, ...] = ()
    scheme: SchemeName | None = None
    header: str = ""
    prefix: str | None = None
    encoding: Encoding | None = None
    timestamp_header: str = ""
    subjects: tuple[str, ...] = ()
    subject_header: str = "x-client-subject"
    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    topics: tuple[str, ...] = ()
    identity_labels: tuple[str, ...] = ()
    replica_labels: tuple[str, ...] | None = None
    rate: int = Field(default=RATE, ge=1)

    @field_validator("identity_labels")
    @classmethod
    def _plain_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.removeprefix("labels.") for name in names)

    @field_validator("header", "timestamp_header", "subject_header")
    @classmethod
    def _lower_case(cls, name: str) -> str:
        return name.lower()

    @property
    def texts(self) -> list[str]:
        """The secrets as they are."""
        return [secret.get_secret_value() for secret in self.secrets]

    def signs_as(self, source: str) -> Scheme:
        """Return how this sender signs: as its kind does, but for what is said here.

        Raises ValueError if nobody says how.
        """
        name = self.scheme or source
        known = {str(scheme): scheme for scheme in SchemeName}
        if name not in known and not self.header:
            raise ValueError(
                f"how it signs is not known: set `scheme` to one of {', '.join(known)}, or `header`"
            )
        base = SCHEMES[known[name]] if name in known else Scheme(header=self.header)
        return replace(
            base,
            header=self.header or base.header,
            prefix=base.prefix if self.prefix is None else self.prefix,
            encoding=self.encoding or base.encoding,
            timestamp_header=self.timestamp_header or base.timestamp_header,
        )

    @model_validator(mode="after")
    def _can_verify(self) -> Self:
        if self.auth is Auth.PROXY and not (self.subjects and self.networks):
            raise ValueError("auth 'proxy' needs `subjects` and the `networks` of the proxies")
        if self.auth is Auth.SNS and not self.topics:
            raise ValueError("auth 'sns' needs `topics`: the TopicArn of each that may send")
        if self.auth in (Auth.BEARER, Auth.BASIC, Auth.SIGNATURE):
            self._check_secrets()
        return self

    def _check_secrets(self) -> None:
        if not self.secrets:
            raise ValueError(f"auth {self.auth.value!r} needs `secrets`")
        least = SHORTEST_TOKEN if self.auth is Auth.BEARER else SHORTEST_SECRET
        for number, secret in enumerate(self.texts, start=1):
            if len(secret.strip()) < least:
                raise ValueError(
                    f"secret number {number} can be guessed: it needs at least {least} characters"
                )
            if self.auth is Auth.BASIC and ":" not in secret:
                raise ValueError(f"secret number {number} has to be `user:password`")


def faults(name: str, sender: Sender, *, dev: bool) -> Iterator[str]:
    """Say what is wrong with an entry of the table that only its name or the mode tells."""
    source, _, instance = name.partition("/")
    if not source or ("/" in name and not INSTANCE.fullmatch(instance)):
        yield f"{name!r} is neither `<source>` nor `<source>/<instance>`"
    if sender.auth is Auth.NONE and not dev:
        yield f"{name!r}: auth 'none' is for TOCSIN_DEV=true only"
    if sender.auth is Auth.SIGNATURE:
        try:
            scheme = sender.signs_as(source)
            for secret in sender.texts:
                check_secret(scheme, secret)
        except ValueError as error:
            yield f"{name!r}: {error}"
