"""The way in that every endpoint shares: how many at once, who, how often, how large, how slow."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from starlette.requests import Request

from tocsin_ingest.edge import bodies
from tocsin_ingest.edge.answers import RefusedError
from tocsin_ingest.edge.bodies import Limits
from tocsin_ingest.edge.counting import Reason
from tocsin_ingest.edge.gate import Gate, Known
from tocsin_ingest.edge.places import Place, Places
from tocsin_ingest.edge.rates import Rates
from tocsin_ingest.senders import Auth
from tocsin_kit.clock import Clock

RETRIES_429 = frozenset({"cloudwatch", "eventbridge", "pagerduty"})
"""Sources whose senders wait and send again after a 429; after any other 4xx nobody does."""

KEY_IN_PATH = "token"
"""The part of a path that is a secret, of senders that can put it nowhere else."""

PROVEN_BY_BODY = frozenset({Auth.SIGNATURE, Auth.SNS})
"""Until the body is there, whoever sends it could be anybody."""

TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class Greeted:
    """A request whose headers say that it may come in, and those headers."""

    known: Known
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Entered:
    """A request that was let in: who sent it, and what exactly was received."""

    known: Known
    headers: Mapping[str, str]
    body: bytes
    place: Place


class Door:
    """Lets requests in, or raises RefusedError."""

    def __init__(self, gate: Gate, limits: Limits, clock: Clock) -> None:
        self._gate = gate
        self._limits = limits
        self._clock = clock
        self._rates = Rates()
        self._places = Places(limits)

    def room(self) -> AbstractContextManager[Place]:
        """Hold a place among the requests that are worked on at once, or refuse; 503."""
        return self._places.room()

    def greet(self, request: Request, source: str, instance: str = "") -> Greeted:
        """Return who sends, by what stands in the headers; a signature is checked by `enter`."""
        known = self._gate.sender(source, instance)
        headers = joined_headers(request)
        self._gate.check_headers(known, _with_token(headers, request), _peer(request))
        return Greeted(known, headers)

    async def enter(self, request: Request, greeted: Greeted, place: Place) -> Entered:
        """Read a request of a sender who may send now, and check what it signed.

        Its place is one of a stranger's until it is proven who sent it; see `believe`.
        """
        known, headers = greeted.known, greeted.headers
        self._check_rate(known)
        if known.sender.auth in PROVEN_BY_BODY:
            place.count_for(*self._places.of_stranger(_peer(request)))
        else:
            self.believe(known, place)
        body = await bodies.read(request, headers, self._limits)
        self._gate.check_body(known, headers, body, self._clock.now())
        if known.sender.auth is Auth.SIGNATURE:
            self.believe(known, place)
        self._rates.charge(known.name, known.sender.rate, 1, self._now())
        return Entered(known, headers, body, place)

    def believe(self, known: Known, place: Place) -> None:
        """Count a request for its sender, who has shown who it is; 503 if it has enough of them."""
        place.count_for(self._places.of_sender(known.name))

    def charge(self, known: Known, alerts: int) -> None:
        """Count a request's alerts against what its sender may send; `enter` counted the first."""
        if alerts > 1:
            self._rates.charge(known.name, known.sender.rate, alerts - 1, self._now())

    def _check_rate(self, known: Known) -> None:
        rate = known.sender.rate
        wait = self._rates.wait(known.name, rate, self._now())
        if not wait:
            return
        source = known.name.partition("/")[0]
        status = TOO_MANY_REQUESTS if source in RETRIES_429 else 503
        error = f"{known.name!r} sends over {rate} alerts a minute"
        hint = "send it again later, or raise `rate` in TOCSIN_SENDERS"
        raise RefusedError(status, Reason.TOO_OFTEN, error, hint, retry_after=int(wait) + 1)

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _peer(request: Request) -> str:
    return request.client.host if request.client else ""


def _with_token(headers: Mapping[str, str], request: Request) -> Mapping[str, str]:
    """Return the headers; the token of the path stands in for credentials that none of them has."""
    token = request.path_params.get(KEY_IN_PATH)
    return {"authorization": f"Bearer {token}", **headers} if token else headers


def joined_headers(request: Request) -> dict[str, str]:
    """Return the headers by their names in lower case; several of one name are one list."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in request.scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
