"""People whom a proxy signed in: believed only from where it stands, and only in one form."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from tocsin_gateway.assertions import Assertions, Person, named
from tocsin_kit.metrics import Counter

Network = IPv4Network | IPv6Network

IGNORED = Counter(
    "tocsin_proxy_headers_ignored",
    "Requests that named a person in a header and were not believed.",
    ["why"],
)


@dataclass(frozen=True, slots=True)
class Proxies:
    """The trusted proxies; with `signed`, only what it verifies is believed."""

    networks: Sequence[Network]
    user_header: str
    groups_header: str
    signed: Assertions | None = None

    def person(self, connection: HTTPConnection) -> Person | None:
        """Return whom a trusted proxy names; whatever else names somebody is only counted."""
        name = self.signed.header if self.signed else self.user_header
        given = connection.headers.getlist(name)
        if not given:
            return None
        why = self._fault(connection, given)
        person = None if why else self._read(given[0], connection.headers)
        if person is None:
            IGNORED.labels(why or "malformed").inc()
        return person

    def _fault(self, connection: HTTPConnection, given: Sequence[str]) -> str:
        """Return why nobody is believed: of two headers of a name, a client sent one itself."""
        if not self._trusts(connection):
            return "stranger"
        groups = [] if self.signed else connection.headers.getlist(self.groups_header)
        return "named twice" if len(given) > 1 or len(groups) > 1 else ""

    def _read(self, given: str, headers: Headers) -> Person | None:
        if self.signed:
            return self.signed.person(given)
        return named(given.strip(), headers.get(self.groups_header, "").split(","))

    def _trusts(self, connection: HTTPConnection) -> bool:
        try:
            peer = ip_address(connection.client.host if connection.client else "")
        except ValueError:
            return False
        mapped = peer.ipv4_mapped if isinstance(peer, IPv6Address) else None
        return any((mapped or peer) in network for network in self.networks)
