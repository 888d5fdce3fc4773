"""`/api/v1/status`: how every part of the deployment is."""

from typing import Annotated, Protocol

from fastapi import APIRouter, Depends

from tocsin_contracts.roles import Role
from tocsin_contracts.status import StatusView
from tocsin_gateway.access import Principal, needs


class Statuses(Protocol):
    """Looks at everything; what does not answer is unknown."""

    async def look(self) -> StatusView:
        """Return how everything is."""


def routes(statuses: Statuses) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/api/v1/status")

    @router.get("")
    async def status(by: Annotated[Principal, Depends(needs(Role.VIEWER))]) -> StatusView:
        del by
        return await statuses.look()

    return router
