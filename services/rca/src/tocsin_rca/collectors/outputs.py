"""What commands printed, as it was recorded: text that says more than the objects in it."""

import re
from collections.abc import Iterable

from tocsin_cluster.port import EVERYWHERE
from tocsin_cluster.printed import Command, Printed
from tocsin_contracts import EvidenceKind
from tocsin_kit.untrusted import clean
from tocsin_rca.collectors.components import SYSTEM
from tocsin_rca.collectors.inquiry import Inquiry, Observations
from tocsin_rca.collectors.target import Target
from tocsin_rca.evidence import LogText, Observation

MOST = 60
_NAME_SERVERS = re.compile(r"kube-dns|coredns|node-local-dns")
LONGEST = 64_000
_ATTEMPTS = ("apply", "create", "patch", "replace", "rollout", "run", "scale", "set")


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return the texts that concern the namespace or no namespace, those with its names first.

    If none does, what somebody tried to change: an alert about what deploys is of another namespace
    than what it deploys.
    """
    query = "what commands printed"
    return await inquiry.ask(inquiry.cluster.source, query, _look(target, inquiry))


async def _look(target: Target, inquiry: Inquiry) -> Observations:
    printed = await inquiry.cluster.printed()
    concerned = [one for one in printed if _concerns(one.command, target.namespace)]
    concerned = concerned or [one for one in printed if one.command.verb in _ATTEMPTS]
    best = sorted(concerned, key=lambda one: not _speaks_of(one, target.names))
    seen = tuple(_seen(one, target, inquiry) for one in best[:MOST])
    if len(best) <= MOST:
        return seen
    why = f"{len(best) - MOST} more texts were left out"
    return (*seen, inquiry.missing(inquiry.cluster.source, "what commands printed", why))


def _seen(one: Printed, target: Target, inquiry: Inquiry) -> Observation[object]:
    command, text = one.command, clean(one.text, LONGEST).text
    query = command.text
    if command.verb == "logs" and not _of_name_servers(command, target.namespace):
        pod = command.names[0] if command.kind == "Pod" and command.names else ""
        container = command.container or _only_container(pod, target)
        log = LogText(pod, container, command.previous, text)
        return inquiry.saw(EvidenceKind.LOG, query, text, log, ref=query)
    kind = EvidenceKind.OUTPUT if command.of_kubectl else EvidenceKind.CHECK
    return inquiry.saw(kind, query, text, Printed(command, text, one.data), ref=query)


def _only_container(name: str, target: Target) -> str:
    """Return the container that a log of a pod is of where no other could be meant."""
    pod = next((pod for pod in target.pods if pod.ref.name == name), None)
    names = [one.name for one in pod.containers()] if pod else []
    return names[0] if len(names) == 1 else ""


def _concerns(command: Command, namespace: str) -> bool:
    if command.namespace == SYSTEM != namespace:
        return command.verb != "logs" or _of_name_servers(command, namespace)
    return namespace == EVERYWHERE or command.namespace in ("", namespace)


def _of_name_servers(command: Command, namespace: str) -> bool:
    """Whether it is about the name servers that others need: no log of the alert's own pods."""
    return (
        namespace != SYSTEM == command.namespace and _NAME_SERVERS.search(command.text) is not None
    )


def _speaks_of(one: Printed, names: Iterable[str]) -> bool:
    return any(name in one.command.text or name in one.text for name in names)
