"""Amazon SNS messages as they arrive over HTTP, and which addresses in them are Amazon's own."""

import re
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

_HOST = re.compile(r"sns\.[a-z]{2,}(?:-[a-z0-9]+)+\.amazonaws\.com(?:\.cn)?")
_CERTIFICATE = re.compile(r"/SimpleNotificationService-[A-Za-z0-9]+\.pem")
_TIME = TypeAdapter(AwareDatetime)


class Kind(StrEnum):
    """What a message is for."""

    NOTIFICATION = "Notification"
    SUBSCRIPTION = "SubscriptionConfirmation"
    UNSUBSCRIPTION = "UnsubscribeConfirmation"


class Envelope(BaseModel):
    """The fields that Amazon signs, and what they are signed with."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: Kind = Field(alias="Type")
    message_id: str = Field(alias="MessageId")
    topic: str = Field(alias="TopicArn")
    message: str = Field(alias="Message")
    timestamp: str = Field(alias="Timestamp")
    subject: str | None = Field(default=None, alias="Subject")
    token: str = Field(default="", alias="Token")
    subscribe_url: str = Field(default="", alias="SubscribeURL")
    signature: str = Field(default="", alias="Signature")
    signature_version: str = Field(default="", alias="SignatureVersion")
    certificate_url: str = Field(default="", alias="SigningCertURL")

    @property
    def signed(self) -> bytes:
        """The text that the signature is over."""
        if self.kind is Kind.NOTIFICATION:
            subject = [] if self.subject is None else ["Subject", self.subject]
            own = [*subject, "Timestamp", self.timestamp]
        else:
            own = ["SubscribeURL", self.subscribe_url, "Timestamp", self.timestamp]
            own += ["Token", self.token]
        start = ["Message", self.message, "MessageId", self.message_id]
        lines = [*start, *own, "TopicArn", self.topic, "Type", self.kind.value]
        return "".join(f"{line}\n" for line in lines).encode()

    @property
    def sent_at(self) -> AwareDatetime:
        """When it was published; ValueError if its time is none."""
        return _TIME.validate_python(self.timestamp)

    @property
    def certificate_is_amazons(self) -> bool:
        """Whether the certificate may be fetched."""
        return _is_amazons(self.certificate_url, _CERTIFICATE)

    @property
    def confirmation_is_amazons(self) -> bool:
        """Whether the address that confirms the subscription of this topic may be asked."""
        if not _is_amazons(self.subscribe_url, re.compile("/?")):
            return False
        asked = parse_qs(urlsplit(self.subscribe_url).query)
        wanted = {"Action": ["ConfirmSubscription"], "TopicArn": [self.topic]}
        return wanted.items() <= asked.items()


def envelope_of(payload: Any) -> Envelope | None:
    """Return the SNS message that a payload is, or None if it is something else."""
    if not isinstance(payload, dict) or "TopicArn" not in payload:
        return None
    try:
        return Envelope.model_validate(payload)
    except ValidationError:
        return None


def _is_amazons(url: str, path: re.Pattern[str]) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and "\\" not in url and " " not in url
    host_only = _HOST.fullmatch(parts.netloc) is not None
    return plain and parts.scheme == "https" and host_only and bool(path.fullmatch(parts.path))
