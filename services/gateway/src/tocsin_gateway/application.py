"""The HTTP application of the API: its routes behind one door."""

from fastapi import APIRouter, FastAPI

from tocsin_gateway import refusals, routes
from tocsin_gateway.access import Access, SignedIn, nobody
from tocsin_gateway.api import Api
from tocsin_gateway.guard import Guard
from tocsin_gateway.live.hub import Hub


def build(
    api: Api, hub: Hub, access: Access, *more: APIRouter, signed_in: SignedIn = nobody
) -> FastAPI:
    """Return the application, with its OpenAPI document; `more` are routes of other areas.

    `signed_in` knows the cookies of the console, for what its pages ask of the API.
    """
    app = FastAPI(title="Tocsin", version="1", docs_url=None, redoc_url=None)
    for router in (routes.runs(api), routes.decisions(api), routes.events(hub), *more):
        app.include_router(router)
    app.add_middleware(Guard, access=access, signed_in=signed_in)
    for error, answer in refusals.ANSWERS.items():
        app.add_exception_handler(error, answer)
    return app
