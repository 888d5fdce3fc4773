"""How a fake forge is asked: in process by a plain function, or by any client on loopback."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from tocsin_kit.processes import LOOPBACK


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: `path` holds the segments below the API, each decoded once."""

    method: str
    path: tuple[str, ...]
    query: Mapping[str, str]
    token: str
    body: Any = None

    def number(self, name: str, default: int) -> int:
        """Return a number of the query."""
        return int(self.query.get(name, default))

    def paged(self, found: list[Any], size: str, most: int) -> list[Any]:
        """Return the page of a list that the query asks for."""
        limit = min(self.number(size, 20), most)
        begin = (self.number("page", 1) - 1) * limit
        return found[begin : begin + limit]


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back, as JSON."""

    status: int
    content: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusedError(Exception):
    """The request is answered with an error."""

    def __init__(self, status: int, message: Any) -> None:
        super().__init__(f"{status} {message}")
        self.answer = Answer(status, {"message": message})


class Fake(Protocol):
    """A host with an API below `prefix`."""

    prefix: str

    def answer(self, asked: Asked) -> Answer:
        """Answer a request, or raise RefusedError."""


def handle(
    fake: Fake, method: str, target: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, Mapping[str, str], bytes]:
    """Answer a request as it is on the wire; `headers` are found by small letters."""
    url = urlsplit(target)
    below = url.path.removeprefix(fake.prefix).strip("/")
    asked = Asked(
        method=method,
        path=tuple(unquote(segment) for segment in below.split("/")),
        query=dict(parse_qsl(url.query)),
        token=headers.get("private-token") or headers.get("authorization", "").split(" ")[-1],
        body=json.loads(body) if body else None,
    )
    try:
        answer = fake.answer(asked)
    except RefusedError as refused:
        answer = refused.answer
    content = json.dumps(answer.content).encode()
    return answer.status, {"content-type": "application/json", **answer.headers}, content


@contextmanager
def serving(fake: Fake) -> Iterator[str]:
    """Serve the fake on loopback; yield its address, without the API's prefix."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, told, content = handle(fake, self.command, self.path, headers, body)
            self.send_response(status)
            for name, value in {**told, "content-length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def do_PUT(self) -> None:
            self._answer()

        def do_PATCH(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            """What was asked is the fake's to keep."""

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
