"""`/api/v1/runs/{id}/report`: what became of an incident, to be kept somewhere else."""

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from tocsin_contracts.roles import Role
from tocsin_gateway.access import needs
from tocsin_gateway.api import Api
from tocsin_gateway.reporting import markdown


class Format(StrEnum):
    """How a report is written."""

    MARKDOWN = "md"
    JSON = "json"


def routes(api: Api) -> APIRouter:
    """Return the route."""
    router = APIRouter(prefix="/api/v1/runs", dependencies=[Depends(needs(Role.VIEWER))])

    @router.get("/{run_id}/report", response_class=Response)
    async def report(
        run_id: str, wanted: Annotated[Format, Query(alias="format")] = Format.MARKDOWN
    ) -> Response:
        view = await api.show(run_id)
        if wanted is Format.JSON:
            return Response(view.model_dump_json(), media_type="application/json")
        return Response(markdown(view), media_type="text/markdown; charset=utf-8")

    return router
