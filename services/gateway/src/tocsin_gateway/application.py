"""The HTTP application of the API: its routes behind one door."""

from fastapi import APIRouter, FastAPI

from tocsin_gateway import refusals, routes
from tocsin_gateway.access import Access
from tocsin_gateway.api import Api
from tocsin_gateway.guard import Guard
from tocsin_gateway.live.hub import Hub


def build(api: Api, hub: Hub, access: Access, *more: APIRouter) -> FastAPI:
    """Return the application, with its OpenAPI document; `more` are routes of other areas."""
    app = FastAPI(title="Tocsin", version="1", docs_url=None, redoc_url=None)
    for router in (routes.runs(api), routes.decisions(api), routes.events(hub), *more):
        app.include_router(router)
    app.add_middleware(Guard, access=access)
    for error, answer in refusals.ANSWERS.items():
        app.add_exception_handler(error, answer)
    return app
