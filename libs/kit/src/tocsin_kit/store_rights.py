"""Who may touch which keys of the store, and by which commands: the least that each needs."""

from dataclasses import dataclass

from tocsin_kit.publishes import Identity

EVERY_COMMAND = ("+@all",)
COMMANDS = (
    *("+@read", "+@write", "+@connection", "+@transaction", "+eval", "+evalsha", "+script|load"),
    *("-@admin", "-@dangerous", "-scan", "-randomkey"),
)
"""What every service runs: nothing that looks at keys it does not name, or at the server."""

APPENDING = ("+eval", "+evalsha", "+xadd", "+xrange", "+xrevrange", "+hset", "+hexists")
"""The commands for what only grows."""

_SHARED = ("runs", "run:{*}", "pull:*", "issue:*", "claim:*", "settings", "heartbeats")
_DECISIONS = ("approval:{*}:*", "outbox:approvals")
_INTAKE = ("incident:{*}*", "place:*", "outbox:ingest")
_CHATS = ("chat:{*}*",)
_LIVE = "live-settings"


@dataclass(frozen=True, slots=True)
class StoreRights:
    """What keys may be changed and read, as patterns without the prefix, and the commands.

    To those of `appends` things can be added, and nothing else is ever done to them.
    """

    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    commands: tuple[str, ...] = COMMANDS
    appends: tuple[str, ...] = ()


_OWN: dict[Identity, StoreRights] = {
    Identity.INGEST: StoreRights(writes=(*_INTAKE, "joined:{*}", "*:{triage}"), reads=(_LIVE,)),
    Identity.RCA: StoreRights(
        writes=(
            *_INTAKE,
            *_CHATS,
            "about:*",
            "answered:{*}",
            "news:{*}",
            "outputs:{*}",
            "recording:{*}:*",
            "spent:{*}:*",
            "tool-calls",
            "transcript:{*}:*",
        ),
        reads=(_LIVE,),
    ),
    Identity.VALIDATION: StoreRights(reads=("approval:{*}:*", _LIVE)),
    Identity.ACTION: StoreRights(writes=_DECISIONS, reads=("incident:{*}", _LIVE)),
    Identity.NOTIFIER: StoreRights(
        writes=(*_DECISIONS, *_CHATS, "card:{*}*", "card-at:*", "notice:{*}"),
        reads=("incident:{*}", _LIVE),
    ),
    Identity.GATEWAY: StoreRights(
        writes=(*_DECISIONS, *_INTAKE, *_CHATS, "outcome:{*}", "outcomes", "tool-calls", _LIVE),
        reads=("news:{*}",),
        commands=(*COMMANDS, "+info"),
        appends=("*:{audit}",),
    ),
}


def store_rights(who: Identity) -> StoreRights:
    """Return everything that an identity may do in the store; a dashboard may do nothing."""
    if who is Identity.OWNER:
        return StoreRights(writes=("*",), commands=EVERY_COMMAND)
    if who not in _OWN:
        return StoreRights(commands=())
    own = _OWN[who]
    mine = (f"lease:{{*}}:{who}", f"ck:{{*}}:{who}:*", "heartbeat:*")
    return StoreRights((*_SHARED, *mine, *own.writes), own.reads, own.commands, own.appends)
