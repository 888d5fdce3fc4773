"""Host names that programs cannot resolve, and the Services that a cluster has."""

import re
from dataclasses import dataclass

from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import heard
from tocsin_rca.evidence.statements import Told

_HOST = r"(?P<%s>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)"
_UNRESOLVED = re.compile(
    "|".join(
        (
            r"lookup "
            + _HOST % "a"
            + r"\.?(?: on \S{1,60})?: (?:no such host|server misbehaving|Temporary|Try again)",
            r"(?:ENOTFOUND|EAI_AGAIN) " + _HOST % "b",
            r"(?i:could not resolve(?: host)?|couldn't resolve host"
            r"|unable to resolve host(?:name| address)?)"
            r"[:\s]{1,3}['\"`]?" + _HOST % "c",
            r"(?i:could not translate host name) \"" + _HOST % "d",
            r"UnknownHostException:? " + _HOST % "e",
            r"(?i:failed to resolve|can't resolve|cannot resolve|error resolving|resolving host"
            r"|couldn't resolve)"
            r" (?i:host(?:name)? )?['\"]?" + _HOST % "f",
            r"host='"
            + _HOST % "g"
            + r"'[^\n]{0,300}(?:Name or service not known|name resolution|NameResolutionError)",
            r"Unknown (?:MySQL server )?host '" + _HOST % "h",
            r"(?i:server can't find|bad address) '?" + _HOST % "i",
            r"host not found in upstream \"" + _HOST % "j",
            r"(?i:connecting to|connect to|connection to|server at|reach) ['\"]?"
            + _HOST % "k"
            + r"(?::\d{1,5})?['\"]?[^\n]{0,40}"
            r"(?:Name or service not known|no such host|Temporary failure in name resolution"
            r"|nodename nor servname)",
            r"(?<![\w.-])"
            + _HOST % "l"
            + r"(?::\d{1,5})?: (?:Name or service not known|nodename nor servname|Temporary)",
            r"(?i:getaddrinfo failed|dns lookup failed|dns resolution failed"
            r"|name resolution failed)"
            r"[^\n]{0,30}?(?:for|:) ['\"]?" + _HOST % "m",
        )
    )
)
_WORDS = frozenset(
    {"host", "hostname", "name", "the", "address", "for", "error", "dns", "failed", "resolve"}
)


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A host that a program asked for, which has no address."""

    host: str
    told: tuple[Told, ...]

    @property
    def is_inside(self) -> bool:
        """Whether only a Service of the cluster can be called so."""
        return (
            "." not in self.host or self.host.endswith((".svc", ".local")) or ".svc." in self.host
        )

    @property
    def service(self) -> str:
        """The Service that the name means, if it is one inside of the cluster."""
        return self.host.split(".")[0]

    @property
    def namespace(self) -> str:
        """The namespace that the name means; empty if it names none."""
        _, *rest = self.host.split(".")
        return rest[0] if rest and rest[1:2] in ([], ["svc"]) else ""


def unresolved(case: Case) -> Unresolved | None:
    """Return the first host that a log says cannot be resolved."""
    told = heard(case, _UNRESOLVED)
    if not told:
        return None
    host = next(text for text in told[0].match.groups() if text)
    return (
        None
        if host.lower() in _WORDS or host.replace(".", "").isdigit()
        else Unresolved(host, told)
    )
