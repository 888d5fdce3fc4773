"""Hosts and ports inside values and texts, and which Service a host name means."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_contracts import ObjectRef

_PLACE = re.compile(
    r"(?<![\w.@-])(?P<host>[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,120}[A-Za-z0-9])?)"
    r":(?P<port>\d{2,5})(?!\w|[.:]\d)"
)
_AFTER_SCHEME = re.compile(r"://(?:[^/@\s'\"]{0,120}@)?(?P<host>[A-Za-z0-9][A-Za-z0-9_.-]{0,120})")
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_PRIVATE = re.compile(
    r"10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\."
)
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9-]{1,63}){0,6}\.?", re.I)
_CLUSTER = (".svc", ".svc.cluster.local", ".cluster.local")
_LARGEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Place:
    """A host as it is written, and a port if one is written behind it."""

    host: str
    port: int | None = None

    @property
    def is_address(self) -> bool:
        """Whether the host is an IPv4 address."""
        return _IP.fullmatch(self.host) is not None

    @property
    def is_short(self) -> bool:
        """Whether it is one word, which means a Service of the own namespace."""
        return "." not in self.host and not self.is_local

    @property
    def is_private(self) -> bool:
        """Whether the host is an address that may be that of a pod."""
        return self.is_address and _PRIVATE.match(self.host) is not None

    @property
    def is_local(self) -> bool:
        """Whether it means the pod itself."""
        return self.host == "localhost" or self.host.startswith(("127.", "0."))

    @property
    def may_be_a_service(self) -> bool:
        """Whether the name is one that cluster DNS could answer: short, or below `svc`."""
        if self.is_address or self.is_local:
            return False
        return "." not in self.host or self.host.rstrip(".").endswith(_CLUSTER)

    def service(self, namespace: str) -> ObjectRef:
        """Return the Service that the name means to a pod in a namespace."""
        name, _, rest = self.host.rstrip(".").partition(".")
        inside = rest.partition(".")[0] if rest else ""
        return ObjectRef(kind="Service", namespace=inside or namespace, name=name)


def places(text: str) -> Iterator[Place]:
    """Yield the hosts that a short text names with a port or behind a scheme, in its order."""
    seen: set[str] = set()
    for found in _PLACE.finditer(text):
        host, port = found["host"], int(found["port"])
        is_name = not host.replace(".", "").isdigit()
        if port <= _LARGEST_PORT and (is_name or _IP.fullmatch(host)):
            seen.add(host)
            yield Place(host, port)
    for found in _AFTER_SCHEME.finditer(text):
        if found["host"] not in seen:
            yield Place(found["host"])


def is_host_name(text: str) -> bool:
    """Whether a whole value could be the name of a host."""
    return _NAME.fullmatch(text) is not None and not text.isdigit()


def means(place: Place, service: ObjectRef, namespace: str) -> bool:
    """Whether a pod in a namespace that asks for a place asks that Service."""
    if place.is_address or place.is_local:
        return False
    meant = place.service(namespace)
    return (meant.name, meant.namespace) == (service.name, service.namespace)
