"""Who may say and hear what on the bus: the least that each service needs."""

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_contracts import LIVE_PREFIX, PREFIX
from tocsin_contracts.freezes import FreezeAsked
from tocsin_contracts.live import ChatMoved
from tocsin_contracts.ties import TieAsked
from tocsin_contracts.toolcalls import AgentsAsked, DirectCall, ToolsAsked
from tocsin_kit.publishes import PUBLISHES, Identity
from tocsin_kit.topology import (
    CONSUMERS,
    FACTS,
    PARKED,
    RINGS,
    STREAMS,
    TIMERS,
    Consumer,
    timer_subject,
)

EVERYTHING = (">",)

_API = "$JS.API"
_MOVED = f"{LIVE_PREFIX}.*.{ChatMoved.kind}"
_FREEZES = FreezeAsked.subject
_TOOLS = (ToolsAsked.subject, DirectCall.subject, AgentsAsked.subject)


@dataclass(frozen=True, slots=True)
class BusRights:
    """The subjects that one identity may publish to and subscribe.

    `denied` are taken from `publish`. Who `answers` may also publish once where a message that it
    was given says.
    """

    publish: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    answers: bool = False


_OWN: dict[Identity, BusRights] = {
    Identity.INGEST: BusRights(
        publish=(f"{_API}.STREAM.INFO.{FACTS}", TieAsked.subject),
        subscribe=("tocsin-ask.ingest.>",),
        answers=True,
    ),
    Identity.RCA: BusRights(
        publish=(f"{LIVE_PREFIX}.*.*",), subscribe=("tocsin-ask.rca.>",), answers=True
    ),
    Identity.VALIDATION: BusRights(publish=(_FREEZES,)),
    Identity.ACTION: BusRights(publish=(_FREEZES,)),
    Identity.NOTIFIER: BusRights(publish=(_MOVED,)),
}


def inbox(service: str) -> str:
    """Return what the subjects begin with on which a service is answered, and nobody else."""
    return f"_INBOX_{service}"


def bus_rights(who: Identity) -> BusRights:
    """Return everything that an identity may do on the bus."""
    match who:
        case Identity.OWNER:
            return BusRights(publish=EVERYTHING, subscribe=EVERYTHING)
        case Identity.DASHBOARD:
            return BusRights(denied=EVERYTHING, subscribe=(f"{PREFIX}.>",))
        case Identity.GATEWAY:
            own = _of_the_gateway()
        case _:
            own = _OWN[who]
    return BusRights(
        publish=(*_facts(who), *_timers(who), *_places(who), *own.publish),
        denied=own.denied,
        subscribe=(f"{inbox(who)}.>", *own.subscribe),
        answers=own.answers,
    )


def _facts(who: Identity) -> Iterator[str]:
    yield from sorted(event.pattern() for event in PUBLISHES[who])
    yield f"tocsin-canary.{who}"
    yield f"tocsin-parked.{who}.*"


def _timers(who: Identity) -> Iterator[str]:
    """A timer is set by who wakes for it; the gateway sets those of dead letters anew."""
    for owner, kind in RINGS:
        if owner == who or who is Identity.GATEWAY:
            yield timer_subject("set", kind, "*")


def _places(who: Identity) -> Iterator[str]:
    """Yield what takes and settles the messages of a service's own durables."""
    for one in CONSUMERS:
        if _owner(one) == who:
            place = f"{one.stream}.{one.durable}"
            yield f"{_API}.CONSUMER.INFO.{place}"
            yield f"{_API}.CONSUMER.MSG.NEXT.{place}"
            yield f"$JS.ACK.{place}.>"


def _of_the_gateway() -> BusRights:
    """It looks at everything, and takes dead letters out. Nobody's place may move by that."""
    looks = [f"{_API}.STREAM.INFO.{stream.name}" for stream in STREAMS]
    looks += [f"{_API}.CONSUMER.LIST.{stream}" for stream in (FACTS, TIMERS)]
    letters = [f"{_API}.STREAM.MSG.{verb}.{PARKED}" for verb in ("GET", "DELETE")]
    feeds = [f"{_API}.CONSUMER.{verb}.{FACTS}.*" for verb in ("CREATE", "MSG.NEXT", "DELETE")]
    return BusRights(
        publish=(*looks, *letters, *feeds, *_TOOLS, _MOVED),
        denied=tuple(_places_of_others()),
        subscribe=(_MOVED,),
    )


def _places_of_others() -> Iterator[str]:
    for one in CONSUMERS:
        if one.stream != FACTS:
            continue
        for verb in ("CREATE", "DELETE"):
            yield f"{_API}.CONSUMER.{verb}.{FACTS}.{one.durable}"
        if _owner(one) != Identity.GATEWAY:
            yield f"{_API}.CONSUMER.MSG.NEXT.{FACTS}.{one.durable}"


def _owner(consumer: Consumer) -> str:
    return consumer.durable.partition("-")[0]
