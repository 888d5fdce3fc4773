"""Whether a page of somebody else made a browser ask: what the browser says of it."""

from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

_OWN = ("same-origin", "none")
_SAFE = ("GET", "HEAD", "OPTIONS")


def changes(connection: HTTPConnection) -> bool:
    """Whether a request may change something, or goes on as a WebSocket."""
    return connection.scope["type"] == "websocket" or connection.scope["method"] not in _SAFE


def foreign(connection: HTTPConnection, public_url: str = "") -> bool:
    """Whether another site, a sibling of ours too, made the browser ask.

    Every browser says so of what changes something; who says nothing is no browser.
    """
    site = connection.headers.get("sec-fetch-site", "")
    if site and site not in _OWN:
        return True
    origin = connection.headers.get("origin", "")
    own = {connection.headers.get("host", ""), urlsplit(public_url).netloc} - {""}
    return bool(origin) and urlsplit(origin).netloc not in own
