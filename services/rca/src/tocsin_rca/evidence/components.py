"""Pods of the cluster's own components: which of them do not run."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest, dig
from tocsin_rca.evidence.case import Case

_SYSTEM = "kube-system"
_BAD = re.compile(
    r"CrashLoopBackOff|\bError\b|ImagePullBackOff|ErrImagePull|CreateContainerError"
    r"|RunContainerError"
    r"|OOMKilled|InvalidImageName|CreateContainerConfigError"
)
_APISERVER = re.compile(r"(?m)\bkube-apiserver-\S{1,200} {1,200}\d/\d ")
_LONGEST = 64_000


@dataclass(frozen=True, slots=True)
class Component:
    """A pod of a component that is in trouble, and how."""

    id: str
    name: str
    state: str


def ailing(case: Case, names: Iterable[str]) -> tuple[Component, ...]:
    """Return the pods of components by those names that do not run, and empty DaemonSets."""
    wanted = tuple(names)
    return (*_pods(case, wanted), *_sets(case, wanted), *_listed(case, wanted))


def absent(case: Case, name: str) -> tuple[str, ...]:
    """Return the tables of pods that list an API server and no component of that name."""
    tables = (one for one in case.texts("get", "Pod") if _APISERVER.search(one.data.text))
    return tuple(one.id for one in tables if f"{name}-" not in one.data.text)


def _pods(case: Case, names: tuple[str, ...]) -> Iterator[Component]:
    for seen in (*case.pods, *case.objects("Pod")):
        ref = seen.data.ref
        if ref.namespace in (_SYSTEM, "") and _is_of(ref.name, names):
            state = _state(seen.data)
            if state:
                yield Component(seen.id, ref.name, state)


def _sets(case: Case, names: tuple[str, ...]) -> Iterator[Component]:
    for seen in case.objects("DaemonSet"):
        wanted = seen.data.dig("status", "desiredNumberScheduled")
        ready = seen.data.dig("status", "numberReady")
        if not (isinstance(wanted, int) and isinstance(ready, int)):
            continue
        if seen.data.ref.name in names and (wanted == 0 or ready < wanted):
            yield Component(seen.id, seen.data.ref.name, f"ready on {ready} of {wanted} nodes")


def _listed(case: Case, names: tuple[str, ...]) -> Iterator[Component]:
    """Yield what tables of pods that were pasted say; a table of another namespace is only text."""
    for seen in (*case.texts(), *case.checks):
        for line in seen.data.text[:_LONGEST].splitlines():
            words = [w for w in line.split()[:2] if _is_of(w.removeprefix("pod/"), names)]
            bad = _BAD.search(line) if words and re.search(r"\s\d/\d\s", line) else None
            if bad:
                yield Component(seen.id, words[0], bad.group())


def _is_of(name: str, names: tuple[str, ...]) -> bool:
    return any(name == one or name.startswith(f"{one}-") for one in names)


def _state(pod: Manifest) -> str:
    for status in pod.items("status", "containerStatuses"):
        waiting = dig(status, "state", "waiting", "reason")
        ended = dig(status, "state", "terminated", "reason")
        if waiting or ended:
            return str(waiting or ended)
    phase = pod.dig("status", "phase")
    return str(phase) if phase in ("Failed", "Pending", "Unknown") else ""
