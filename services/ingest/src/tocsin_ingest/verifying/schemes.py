"""How each kind of sender signs what it sends: a table, so that one verifier does for all."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

WINDOW_SECONDS = 300
"""How far a signed time may be from ours, either way."""


class Encoding(StrEnum):
    """How a signature is written."""

    HEX = "hex"
    BASE64 = "base64"
    PLAIN = "plain"
    """No signature at all: the header holds the secret itself."""


class SchemeName(StrEnum):
    """The schemes that need no configuration but a secret."""

    GITHUB = "github"
    GITLAB = "gitlab"
    GITEA = "gitea"
    GRAFANA = "grafana"
    PAGERDUTY = "pagerduty"
    SENTRY = "sentry"
    SLACK = "slack"
    STANDARD_WEBHOOKS = "standard-webhooks"
    SVIX = "svix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """An HMAC-SHA256 over `<lead><joint><id><joint><time><joint><body>`, of what is named here.

    Header names are in lower case. `prefix` stands before each signature, `separator` between
    several of them; whatever lacks the prefix is no signature of this scheme. A `timestamp_header`
    holds whole seconds since 1970 and is part of what is signed; without one nothing tells a
    replayed request from a new one. `base64_key` says that a secret is written `whsec_<base64>`.
    """

    header: str
    encoding: Encoding = Encoding.HEX
    prefix: str = ""
    separator: str = ""
    lead: str = ""
    id_header: str = ""
    timestamp_header: str = ""
    joint: str = ":"
    base64_key: bool = False


def _standard(name: str) -> Scheme:
    return Scheme(
        header=f"{name}-signature",
        encoding=Encoding.BASE64,
        prefix="v1,",
        separator=" ",
        id_header=f"{name}-id",
        timestamp_header=f"{name}-timestamp",
        joint=".",
        base64_key=True,
    )


SCHEMES: Mapping[SchemeName, Scheme] = MappingProxyType(
    {
        SchemeName.GITHUB: Scheme(header="x-hub-signature-256", prefix="sha256="),
        SchemeName.GITLAB: Scheme(header="x-gitlab-token", encoding=Encoding.PLAIN),
        SchemeName.GITEA: Scheme(header="x-gitea-signature"),
        SchemeName.GRAFANA: Scheme(header="x-grafana-alerting-signature"),
        SchemeName.PAGERDUTY: Scheme(header="x-pagerduty-signature", prefix="v1=", separator=","),
        SchemeName.SENTRY: Scheme(header="sentry-hook-signature"),
        SchemeName.SLACK: Scheme(
            header="x-slack-signature",
            prefix="v0=",
            lead="v0",
            timestamp_header="x-slack-request-timestamp",
        ),
        SchemeName.STANDARD_WEBHOOKS: _standard("webhook"),
        SchemeName.SVIX: _standard("svix"),
    }
)
"""incident.io signs as `standard-webhooks` do; a sender that is not here is described whole."""
