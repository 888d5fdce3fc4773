"""Real repositories over smart HTTP on loopback: git's own server program, behind a token."""

import base64
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

from tocsin_kit.processes import LOOPBACK

UNAUTHORIZED, FOUND = 401, 302
LONGEST_STALL = 20.0


@dataclass
class GitServer:
    """Serves the repositories below a folder; what a test changes counts from then on.

    Without a token it is public. `asked` keeps every request and `given` who it came from;
    `flows` keeps contents back while it is not set. `says` is the reason why it `refuses`.
    """

    root: Path
    token: str = ""
    refuses: int = 0
    says: str = ""
    elsewhere: str = ""
    asked: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    flows: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.flows.set()

    @property
    def fetches(self) -> int:
        """How often somebody began to fetch."""
        return sum("info/refs" in one for one in self.asked)

    def answer(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Answer one request; `headers` are found by small letters."""
        self.asked.append(f"{method} {target}")
        self.given.append(headers.get("authorization", ""))
        if self.elsewhere:
            return FOUND, {"Location": self.elsewhere + target}, b""
        if self.refuses:
            return self.refuses, {"Content-Type": "text/plain"}, self.says.encode()
        if self.token and _password(headers.get("authorization", "")) != self.token:
            return UNAUTHORIZED, {"WWW-Authenticate": "Basic"}, b""
        if method == "POST":
            self.flows.wait(LONGEST_STALL)
        return self._backend(method, target, headers, body)

    def _backend(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        url = urlsplit(target)
        meta = {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "REQUEST_METHOD": method,
            "PATH_INFO": url.path,
            "QUERY_STRING": url.query,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "PATH": os.environ.get("PATH", os.defpath),
        }
        command = ["git", "http-backend"]
        done = subprocess.run(command, input=body, env=meta, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        pairs = (line.partition(": ") for line in head.decode().splitlines())
        found = {name: value for name, _, value in pairs}
        return int(found.pop("Status", "200").split()[0]), found, content


def _password(header: str) -> str:
    pair = base64.b64decode(header.removeprefix("Basic "), validate=False).decode()
    return pair.partition(":")[2]


@contextmanager
def serving(server: GitServer) -> Iterator[str]:
    """Serve on loopback; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            given = {name.lower(): value for name, value in self.headers.items()}
            status, headers, content = server.answer(self.command, self.path, given, body)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def handle(self) -> None:
            with suppress(ConnectionError):  # who asked was killed by the test
                super().handle()

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            """What was asked is the server's to keep."""

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as http:
        http.daemon_threads = True
        thread = Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{http.server_port}"
        finally:
            server.flows.set()
            http.shutdown()
            thread.join()
