"""`/metrics`: what the process counted, for Prometheus to read."""

from prometheus_client import CONTENT_TYPE_LATEST, Counter, Gauge, Histogram, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

__all__ = ["Counter", "Gauge", "Histogram", "metrics", "route"]


async def metrics(request: Request) -> Response:
    """Answer with every metric of the process; counts only, never a text that a sender chose."""
    del request
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


def route() -> Route:
    """Return the route that every service has."""
    return Route("/metrics", metrics)
