"""Which hosts an external agent may be reached at, checked where the connection is made."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpx

from tocsin_kit.errors import PermanentError, TransientError

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
_PORTS = {"http": 80, "https": 443}


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host; OSError if it has none."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class Hosts:
    """An allow list of `host` or `host:port`; a host alone stands for the port of the scheme.

    Only what `private` allows may be without TLS, or lie in a network that is not public.
    """

    def __init__(self, allowed: Iterable[str], *, private: bool) -> None:
        self._allowed = frozenset(name.lower() for name in allowed)
        self._private = private

    def check(self, address: str) -> None:
        """Raise PermanentError for an address that may not be asked; nothing is looked up."""
        try:
            url = httpx.URL(address)
        except httpx.InvalidURL as error:
            raise PermanentError(f"{address[:100]!r} is no address") from error
        if url.scheme not in _PORTS or url.userinfo or not url.host:
            raise PermanentError(f"{address[:100]!r} is no address of an agent")
        if url.scheme == "http" and not self._private:
            raise PermanentError(
                f"{url.host!r} is not asked without TLS; `private: true` allows it"
            )
        port = url.port or _PORTS[url.scheme]
        names = {f"{url.host}:{port}"} | ({url.host} if port == _PORTS[url.scheme] else set())
        if not names & self._allowed:
            raise PermanentError(
                f"'{url.host}:{port}' is not allowed; if it is the agent's, add it to `allow`"
            )

    def check_ip(self, host: str, ip: str) -> None:
        """Raise PermanentError for a host that leads into a network that is not public."""
        if not self._private and not _is_public(ip):
            raise PermanentError(f"{host!r} leads to {ip}; `private: true` allows that")


class PinnedTransport(httpx.AsyncBaseTransport):
    """Connects to the very address that was checked: a name cannot lead elsewhere in between."""

    def __init__(
        self, hosts: Hosts, inner: httpx.AsyncBaseTransport, find: Resolve = resolve
    ) -> None:
        self._hosts = hosts
        self._inner = inner
        self._find = find

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Check the address and every address of its host, then ask the first."""
        self._hosts.check(str(request.url))
        host, port = request.url.host, request.url.port or _PORTS[request.url.scheme]
        try:
            found = await self._find(host, port)
        except OSError as error:
            raise TransientError(f"the host {host!r} is not found: {error}") from error
        for ip in found:
            self._hosts.check_ip(host, ip)
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=found[0])
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close what is below."""
        await self._inner.aclose()


def _is_public(ip: str) -> bool:
    address = ipaddress.ip_address(ip.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_global and not address.is_multicast
