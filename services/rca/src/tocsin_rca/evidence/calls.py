"""Calls that failed, as clients of many languages write them: whom they asked, and how."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hosts import Place, places
from tocsin_rca.evidence.lines import Line, lines


class How(Enum):
    """How a call failed; `value` says it in words."""

    NO_NAME = "its name cannot be resolved"
    DNS_SILENT = "name servers do not answer"
    REFUSED = "it refuses connections"
    TIMED_OUT = "it does not answer in time"
    UNREACHABLE = "no route leads to it"
    RESET = "it drops connections"
    UNAVAILABLE = "nothing behind it is available"


_DNS_SILENT = re.compile(
    r"(?i)Temporary failure in name resolution|EAI_AGAIN|\[Errno -3\]|no servers could be reached"
    r"|lookup \S{1,253} (?:on \S{1,60} )?(?:read udp|dial udp|i/o timeout)|server misbehaving"
    r"|lookup \S{1,253}: i/o timeout|Resolving timed out|DNS (?:query|resolution|lookup) timed out"
    r"|->\S{1,60}:53: (?:i/o timeout|read: connection refused)"
)
_NO_NAME = re.compile(
    r"(?i)no such host|Name or service not known|ENOTFOUND|NXDOMAIN|UnknownHost"
    r"|could not resolve host|could not translate host name|Name does not resolve"
    r"|nodename nor servname|bad address '|host not found in upstream|unable to resolve host"
    r"|Failed to resolve|Domain name not found|No such host is known|\[Errno -2\]"
    r"|getaddrinfo failed|DNS resolution failed|Unknown (?:MySQL server )?host"
    r"|could not be resolved|name resolution failed|can't find \S{1,253}: "
)
_REFUSED = re.compile(
    r"(?i)connection refused|ECONNREFUSED|\[Errno 111\]|Error 111 |\(111\)|actively refused"
    r"|Connection to \S{1,253} refused"
)
_UNREACHABLE = re.compile(
    r"(?i)no route to host|EHOSTUNREACH|network is unreachable|ENETUNREACH|host is unreachable"
    r"|NoRouteToHost"
)
_TIMED_OUT = re.compile(
    r"(?i)i/o timeout|ETIMEDOUT|ESOCKETTIMEDOUT|connect(?:ion)? timed out|connect(?:ion)? timeout"
    r"|connecttimeout|read timed out|read timeout|timed out after|SocketTimeoutException"
    r"|context deadline exceeded|DeadlineExceeded|DEADLINE_EXCEEDED|download timed out"
    r"|operation timed out|request timed out|timeout expired|Timeout connecting|\(110[):]"
    r"|could not connect to \S{1,253}: timed out|\btimed out\b|Deadline Exceeded"
)
_RESET = re.compile(
    r"(?i)connection reset|ECONNRESET|broken pipe|EPIPE|unexpected EOF|Empty reply from server"
    r"|server closed the connection unexpectedly|Communications link failure|socket hang up"
)
_UNAVAILABLE = re.compile(
    r"(?i)no healthy upstream|upstream connect error|no live upstreams|503 Service Unavailable"
    r"|code = Unavailable|StatusCode\.UNAVAILABLE|UnableToConnect|Bad Gateway|\bUNAVAILABLE: "
    r"|ServerSelectionTimeout|No servers available|failed to connect to all addresses"
    r"|(?:failed|unable|could not|cannot|can't) (?:to )?connect to|not possible to connect to"
    r"|connection error|unreachable|All host\(s\) tried|NoHostAvailable|NoBrokersAvailable"
)
_KINDS = (
    (_DNS_SILENT, How.DNS_SILENT),
    (_NO_NAME, How.NO_NAME),
    (_REFUSED, How.REFUSED),
    (_UNREACHABLE, How.UNREACHABLE),
    (_TIMED_OUT, How.TIMED_OUT),
    (_RESET, How.RESET),
    (_UNAVAILABLE, How.UNAVAILABLE),
)
_HOST = r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,200}[A-Za-z0-9])?)"
_NAMED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"host='{_HOST}',? port=(?P<port>\d{{1,5}})",
        rf"Failed to resolve '{_HOST}'",
        rf"(?i)lookup (?!error\b){_HOST}\.?(?::| on )",
        rf"(?:ENOTFOUND|EAI_AGAIN) {_HOST}",
        rf"UnknownHostException: {_HOST}",
        rf"(?i)could not resolve host: {_HOST}",
        rf"(?i)could not translate host name \"{_HOST}\"",
        rf"(?i)connection to server at \"{_HOST}\"[^,]{{0,60}}, port (?P<port>\d{{1,5}})",
        rf"(?i)running on host \"{_HOST}\".{{0,80}}?port (?P<port>\d{{1,5}})",
        rf"(?i)bad address '{_HOST}(?::(?P<port>\d{{1,5}}))?'",
        rf"(?i)host not found in upstream \"{_HOST}(?::(?P<port>\d{{1,5}}))?",
        rf"(?i)(?:MySQL )?server (?:host )?(?:on )?'{_HOST}(?::(?P<port>\d{{1,5}}))?'",
        rf"(?i)(?:connect|connecting|connection) to {_HOST} (?:\([0-9.]{{7,15}}\) )?"
        r"port (?P<port>\d{1,5})",
        rf"(?i)connecting to {_HOST}:(?P<port>\d{{1,5}})",
        rf"(?i)Connection to {_HOST}:(?P<port>\d{{1,5}}) refused",
        rf"(?i)refused: {_HOST}/[0-9.]{{7,15}}:(?P<port>\d{{1,5}})",
        rf"(?i)can't find {_HOST}: ",
        rf"(?i)/dev/tcp/{_HOST}/(?P<port>\d{{1,5}})",
        rf"(?i)remote host \({_HOST}\)",
        rf"(?i)No such host is known\.? \({_HOST}(?::(?P<port>\d{{1,5}}))?\)",
    )
)
_HINTS = (
    *("refused", "timed", "timeout", "resol", "host", "unavailable", "upstream", "reset", "pipe"),
    *("connect", "dns", "lookup", "errno", "econn", "notfound", "eai_", "deadline", "eof"),
    *(
        "unreach",
        "111",
        "gateway",
        "tried",
        "broker",
        "nxdomain",
        "address",
        "server",
        "hang up",
        "route",
    ),
)
"""At least one of these words is in every line that the patterns above match."""

_WORDS_OF_CODE = ("com", "java", "org", "io", "net", "rpc", "error", "desc", "http", "https", "tcp")
_DNS_PORT = 53


@dataclass(frozen=True, slots=True)
class Call:
    """A call that failed; the place is None where the line does not say whom it asked."""

    line: Line
    how: How
    place: Place | None


def failed_calls(case: Case, *, checks: bool = True) -> tuple[Call, ...]:
    """Return the calls that lines say failed, as often as lines differ."""
    return case.memo.once(("calls", checks), lambda: _failed(case, checks=checks))


def _failed(case: Case, *, checks: bool) -> tuple[Call, ...]:
    judged = ((line, _judged(line.text)) for line in lines(case, checks=checks))
    return tuple(Call(line, *found) for line, found in judged if found)


def failure(text: str) -> How | None:
    """Return how the call failed that a line is about; None if it is about no such thing."""
    return next((how for pattern, how in _KINDS if pattern.search(text)), None)


@lru_cache(8192)
def _judged(text: str) -> tuple[How, Place | None] | None:
    """Several analyzers look at the same lines; most lines speak of no call at all."""
    lower = text.lower()
    if not any(hint in lower for hint in _HINTS):
        return None
    how = failure(text)
    return (how, _asked(text, how)) if how else None


def _asked(text: str, how: How) -> Place | None:
    """The last host with a port is what a chain of wrapped errors ends with."""
    for pattern in _NAMED:
        found = pattern.search(text)
        if found and not found["host"].isdigit():
            port = found.groupdict().get("port")
            return Place(found["host"].rstrip("."), int(port) if port else _port(text, found))
    named = [p for p in _likely(text) if p.port != _DNS_PORT]
    names = [place for place in named if not place.is_address]
    if how in (How.NO_NAME, How.DNS_SILENT):
        named = names
    return names[-1] if names else named[-1] if named else None


def _port(text: str, found: re.Match[str]) -> int | None:
    host = found["host"]
    return next((place.port for place in places(text) if place.host == host), None)


def _likely(text: str) -> Iterator[Place]:
    for place in places(text):
        first = place.host.partition(".")[0].lower()
        if first not in _WORDS_OF_CODE and not place.host.endswith((".go", ".py", ".java", ".js")):
            yield place
