"""Runbooks at the address that an alert names, if an operator allows its host; read only."""

import asyncio
from collections.abc import Iterable
from html.parser import HTMLParser
from http import HTTPStatus

import httpx

from tocsin_agents.remote.hosts import Hosts, PinnedTransport, Resolve, resolve
from tocsin_contracts import Alert
from tocsin_kit.errors import PermanentError, TransientError
from tocsin_kit.untrusted import clean
from tocsin_rca.evidence.runbook_links import runbook_links
from tocsin_rca.ports import Runbook

MOST_CHARS = 16_000
MOST_BYTES = 512 * 1024
PAGE_SECONDS = 5.0
_HTML = "text/html"
_PLAIN = ("text/plain", "text/markdown", "text/x-markdown")
_UNSEEN = frozenset({"script", "style", "nav", "header", "footer", "noscript", "template", "svg"})
_BLOCKS = frozenset({"p", "div", "li", "br", "tr", "pre", "h1", "h2", "h3", "h4", "h5", "h6"})


class RunbookPages:
    """Reads the first address of an alert whose host is allowed; any other is left alone."""

    source = "runbook"

    def __init__(
        self,
        hosts: Iterable[str],
        *,
        seconds: float = PAGE_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
        find: Resolve = resolve,
    ) -> None:
        self._hosts = Hosts(hosts, private=True)
        self._seconds = seconds
        self._inner = transport
        self._find = find

    async def about(self, alert: Alert) -> tuple[Runbook, ...]:
        """Return the page; TransientError if it is away, PermanentError if it is no text."""
        links = [link for link in runbook_links(alert) if self._is_allowed(link)]
        return (Runbook(links[0], await self._text(links[0])),) if links else ()

    def _is_allowed(self, link: str) -> bool:
        try:
            self._hosts.check(link)
        except PermanentError:
            return False
        return True

    async def _text(self, link: str) -> str:
        inner = self._inner or httpx.AsyncHTTPTransport()
        client = httpx.AsyncClient(
            transport=PinnedTransport(self._hosts, inner, self._find),
            headers={"Accept": ", ".join((*_PLAIN, _HTML)), "Accept-Encoding": "identity"},
            timeout=self._seconds,
            follow_redirects=False,
            trust_env=False,
        )
        try:
            async with (
                asyncio.timeout(self._seconds),
                client,
                client.stream("GET", link) as response,
            ):
                return await _read(response)
        except httpx.HTTPError as error:
            raise TransientError(f"the runbook is away: {type(error).__name__}") from error
        except TimeoutError as error:
            raise TransientError(f"the runbook did not come in {self._seconds:g} s") from error


async def _read(response: httpx.Response) -> str:
    kind = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    if response.is_redirect:
        raise PermanentError("the runbook has moved: let the alert name its new address")
    if response.status_code != HTTPStatus.OK:
        raise PermanentError(f"its host answers {response.status_code} for the runbook")
    if kind not in (*_PLAIN, _HTML):
        raise PermanentError(f"the runbook is no text but {kind[:50]!r}")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise PermanentError("the runbook comes compressed, which it was asked not to")
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece[: MOST_BYTES - len(body)]
        if len(body) >= MOST_BYTES:
            break
    text = body.decode(errors="replace")
    shown = await asyncio.to_thread(_shown, text) if kind == _HTML else text
    return clean(shown, MOST_CHARS).text


class _Page(HTMLParser):
    """Collects what a page shows."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a line for a block, and look away from what is not shown."""
        del attrs
        self._unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """Look again."""
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))

    def handle_data(self, data: str) -> None:
        """Keep what is shown."""
        if not self._unseen:
            self.pieces.append(data)


def _shown(html: str) -> str:
    page = _Page()
    page.feed(html)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.pieces).splitlines())
    return "\n".join(line for line in lines if line)
