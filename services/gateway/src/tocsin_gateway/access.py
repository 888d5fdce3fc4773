"""Who asks and what they may do: one answer for every route, every stream and every page."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase
from pydantic import SecretStr
from starlette.requests import HTTPConnection

from tocsin_contracts.roles import Role
from tocsin_gateway import refusals

_ACCESS = "tocsin.access"
_PRINCIPAL = "tocsin.principal"


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody whom we know, by the stable id that approvals name."""

    id: str
    role: Role


class Access:
    """Knows the holders of tokens; who has no role of their own has the default one."""

    def __init__(
        self,
        tokens: Mapping[str, SecretStr],
        roles: Mapping[str, Role] | None = None,
        *,
        default: Role = Role.VIEWER,
    ) -> None:
        self._tokens = {who: token.get_secret_value().encode() for who, token in tokens.items()}
        self._roles = dict(roles or {})
        self._default = default

    def key(self, who: str) -> bytes | None:
        """Return what the sessions of somebody are signed with; None for a stranger."""
        return self._tokens.get(who)

    def role(self, who: str) -> Role:
        """Return what somebody may do."""
        return self._roles.get(who, self._default)

    def able(self, role: Role) -> tuple[str, ...]:
        """Return who may do what needs a role."""
        return tuple(sorted(who for who in self._tokens if self.role(who).includes(role)))

    def holder(self, token: str) -> Principal | None:
        """Return who holds a token. Every one is compared, so that time tells nothing."""
        given = token.encode("utf-8", "replace")
        pairs = [(who, hmac.compare_digest(known, given)) for who, known in self._tokens.items()]
        return next((Principal(who, self.role(who)) for who, same in pairs if same), None)

    def require(self, principal: Principal, role: Role) -> None:
        """Raise RefusedError, which names who could, unless somebody has a role."""
        if not principal.role.includes(role):
            raise refusals.needs_role(role, principal.role, self.able(role))

    def admit(self, connection: HTTPConnection) -> Principal | None:
        """Return who asks, and let `needs` know it; None for a stranger."""
        scheme, _, token = connection.headers.get("authorization", "").partition(" ")
        principal = self.holder(token) if scheme.lower() == "bearer" else None
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
