"""Who asks and what they may do: one answer for every route, every stream and every page."""

import hmac
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache

from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from pydantic import SecretStr
from starlette.requests import HTTPConnection

from tocsin_contracts.roles import Role
from tocsin_gateway import origins, refusals
from tocsin_gateway.proxies import Proxies

_ACCESS = "tocsin.access"
_PRINCIPAL = "tocsin.principal"


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody whom we know, by the stable id that approvals name."""

    id: str
    role: Role


SignedIn = Callable[[HTTPConnection], Principal | None]
"""Who is signed in at a browser, by its cookie."""


def nobody(connection: HTTPConnection) -> None:
    """Know no cookie."""
    del connection


class Access:
    """Knows the holders of tokens and whom a trusted proxy names: the same id is the same person.

    Their role is that of their id; without one the highest of their groups; else the default.
    """

    def __init__(
        self,
        tokens: Mapping[str, SecretStr],
        roles: Mapping[str, Role] | None = None,
        *,
        default: Role = Role.VIEWER,
        proxies: Proxies | None = None,
        groups: Mapping[str, Role] | None = None,
        public_url: str = "",
    ) -> None:
        self._tokens = {who: token.get_secret_value().encode() for who, token in tokens.items()}
        self._roles = dict(roles or {})
        self._groups = dict(groups or {})
        self._default = default
        self._proxies = proxies
        self._public_url = public_url

    def key(self, who: str) -> bytes | None:
        """Return what the sessions of somebody are signed with; None for who holds no token."""
        return self._tokens.get(who)

    def role(self, who: str, groups: Collection[str] = ()) -> Role:
        """Return what somebody may do, who is in these groups."""
        given = [role for group, role in self._groups.items() if group in groups]
        return self._roles.get(who) or max(given, key=list(Role).index, default=self._default)

    def able(self, role: Role) -> tuple[str, ...]:
        """Return who may do what needs a role: known ids first, then groups."""
        known = sorted(self._tokens.keys() | self._roles.keys())
        people = [who for who in known if self.role(who).includes(role)]
        groups = [f"group {group}" for group, has in self._groups.items() if has.includes(role)]
        return (*people, *groups)

    def holder(self, token: str) -> Principal | None:
        """Return who holds a token. Every one is compared, so that time tells nothing."""
        given = token.encode("utf-8", "replace")
        pairs = [(who, hmac.compare_digest(known, given)) for who, known in self._tokens.items()]
        return next((Principal(who, self.role(who)) for who, same in pairs if same), None)

    def proxied(self, connection: HTTPConnection) -> Principal | None:
        """Return whom a trusted proxy names."""
        person = self._proxies.person(connection) if self._proxies else None
        return Principal(person.id, self.role(person.id, person.groups)) if person else None

    def require(self, principal: Principal, role: Role) -> None:
        """Raise RefusedError, which names who could, unless somebody has a role."""
        if not principal.role.includes(role):
            raise refusals.needs_role(role, principal.role, self.able(role))

    def require_own(self, connection: HTTPConnection) -> None:
        """Raise RefusedError if a page of somebody else made a browser change something."""
        if origins.changes(connection) and origins.foreign(connection, self._public_url):
            raise refusals.foreign()

    def admit(self, connection: HTTPConnection, signed_in: SignedIn) -> Principal:
        """Return who asks, and let `needs` know it; RefusedError for a stranger.

        A token that is shown decides; a proxy that names somebody else beside it is refused. What
        a browser sends by itself counts only from pages of ours.
        """
        scheme, _, token = connection.headers.get("authorization", "").partition(" ")
        shown = scheme.lower() == "bearer"
        held = self.holder(token) if shown else None
        proxied = self.proxied(connection)
        if held and proxied and held.id != proxied.id:
            raise refusals.two_people(held.id, proxied.id)
        ambient = proxied or (None if shown else signed_in(connection))
        principal = held or ambient
        if principal is None:
            raise refusals.unknown_token()
        if held is None:
            self.require_own(connection)
        connection.scope.update({_ACCESS: self, _PRINCIPAL: principal})
        return principal


class Needs(SecurityBase):
    """The dependency of a route on a role; it gives the principal, or refuses with 401 or 403."""

    def __init__(self, role: Role) -> None:
        self.role = role
        self.model = HTTPBearer()
        self.scheme_name = "HTTPBearer"

    async def __call__(self, connection: HTTPConnection) -> Principal:
        """Return who asks, of a request or of a WebSocket; RefusedError if they may not."""
        principal: Principal | None = connection.scope.get(_PRINCIPAL)
        if principal is None:
            raise refusals.unknown_token()
        access: Access = connection.scope[_ACCESS]
        access.require(principal, self.role)
        return principal


@cache
def needs(role: Role) -> Needs:
    """Return the dependency that lets in who has a role: `Depends(needs(Role.VIEWER))`."""
    return Needs(role)
