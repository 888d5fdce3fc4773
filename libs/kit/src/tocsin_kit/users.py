"""The users of bus and store as their servers read them, made from who may do what."""

import json
from collections.abc import Mapping, Sequence

from tocsin_kit.keys import PREFIX
from tocsin_kit.publishes import SERVICES, Identity
from tocsin_kit.rights import bus_rights
from tocsin_kit.store_rights import APPENDING, store_rights

OF_THE_BUS = (Identity.OWNER, *SERVICES, Identity.DASHBOARD)
OF_THE_STORE = (Identity.OWNER, *SERVICES)

ANYBODY = "user default on nopass resetkeys resetchannels -@all +ping"
"""Whoever has no name may ask whether the store is up, and nothing else."""


def variable(who: Identity) -> str:
    """Return the environment variable that holds the password of an identity."""
    return f"TOCSIN_PASSWORD_{who.upper()}"


def bus_users(passwords: Mapping[Identity, str]) -> str:
    """Return the `users` of nats-server, each with a password in the server's own notation."""
    users = [line for who in OF_THE_BUS if who in passwords for line in _bus(who, passwords[who])]
    return "\n".join(["users: [", *users, "]", ""])


def store_users(passwords: Mapping[Identity, str], prefix: str = PREFIX) -> str:
    """Return the ACL file of Valkey or Redis; passwords are in the clear."""
    users = [_store(who, passwords[who], prefix) for who in OF_THE_STORE if who in passwords]
    return "\n".join([ANYBODY, *users, ""])


def _bus(who: Identity, password: str) -> list[str]:
    rights = bus_rights(who)
    denied = f", deny: {_listed(rights.denied)}" if rights.denied else ""
    publish = f"allow: {_listed(rights.publish)}" if rights.publish else ""
    lines = [
        "  {",
        f"    user: {who}",
        f"    password: {password}",
        "    permissions: {",
        f"      publish: {{{(publish + denied).removeprefix(', ')}}}",
        f"      subscribe: {{allow: {_listed(rights.subscribe)}}}",
    ]
    lines += ['      allow_responses: {max: 1, expires: "5m"}'] if rights.answers else []
    return [*lines, "    }", "  }"]


def _listed(subjects: Sequence[str]) -> str:
    return "\n".join(["[", *(f"        {json.dumps(one)}" for one in subjects), "      ]"])


def _store(who: Identity, password: str, prefix: str) -> str:
    rights = store_rights(who)
    begins = "" if who is Identity.OWNER else f"{prefix}:"
    writes = [f"~{begins}{one}" for one in rights.writes]
    reads = [f"%R~{begins}{one}" for one in rights.reads]
    appends = [f"~{begins}{one}" for one in rights.appends]
    added = [f"({' '.join([*appends, *APPENDING])})"] if appends else []
    own = ["user", who, "on", f">{password}", *writes, *reads, *rights.commands]
    return " ".join([*own, *added])
