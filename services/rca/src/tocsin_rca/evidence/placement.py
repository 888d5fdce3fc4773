"""Why the scheduler finds no node: its message taken apart into what stood in the way."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

_HEAD = re.compile(
    r"(?<!\d)\d{1,6}/(?P<all>\d{1,6}) nodes are available|pod didn't trigger scale-up"
)
_SHORT = re.compile(r"Insufficient|had untolerated taint")
SENTENCE = re.compile(r"nodes are available: |pod didn't trigger scale-up|had untolerated taint")
"""How to find what `read` reads in a text that was pasted."""
_TAIL = re.compile(r"\bpreemption:|no new claims to deallocate")
_CONTROL_PLANE = re.compile(r"node-role\.kubernetes\.io/(?:control-plane|master|etcd)")
_TROUBLE = re.compile(
    r"node\.(?:kubernetes\.io|cloudprovider\.kubernetes\.io)/"
    r"(?:not-ready|unreachable|network-unavailable|(?:memory|disk|pid)-pressure|out-of-disk"
    r"|uninitialized|shutdown|out-of-service)"
)
_CORDON = re.compile(r"node\.kubernetes\.io/unschedulable|ToBeDeletedByClusterAutoscaler")


class Obstacle(Enum):
    """What keeps a pod from a node, in the order in which the scheduler looks at it."""

    CORDON = "cordon"
    TROUBLE = "trouble"
    CONTROL_PLANE = "control plane"
    TAINT = "taint"
    LABELS = "labels"
    PORTS = "ports"
    RESOURCE = "resource"
    PODS = "pods"
    VOLUME = "volume"
    SPREAD = "spread"
    POD_AFFINITY = "pod affinity"
    ANTI_AFFINITY = "anti-affinity"


@dataclass(frozen=True, slots=True)
class Refusal:
    """On how many nodes something stood in the way; the detail is a taint or a resource."""

    obstacle: Obstacle
    count: int
    detail: str = ""


_COUNTED: tuple[tuple[Obstacle, str], ...] = (
    (Obstacle.CORDON, r"node\(s\) were unschedulable"),
    (Obstacle.LABELS, r"node\(s\) didn't match (?:Pod's )?node (?:affinity|selector)"),
    (Obstacle.PORTS, r"node\(s\) didn't have free ports"),
    (Obstacle.PODS, r"Too many pods"),
    (Obstacle.SPREAD, r"node\(s\) didn't match pod topology spread constraints"),
    (Obstacle.POD_AFFINITY, r"node\(s\) didn't match pod affinity rules"),
    (
        Obstacle.ANTI_AFFINITY,
        r"node\(s\) didn't (?:match pod (?:affinity/)?anti-affinity"
        r"|satisfy existing pods anti-affinity)",
    ),
    (
        Obstacle.VOLUME,
        r"node\(s\) (?:had volume node affinity|had no available volume|exceed max volume"
        r"|didn't find available persistent|unavailable due to (?:one or more )?(?:volume|pvc))",
    ),
)
_SIMPLE = tuple((one, re.compile(rf"(?P<n>\d{{1,6}}) {words}")) for one, words in _COUNTED)
_TAINT = re.compile(
    r"(?:(?P<n>\d{1,6}) node\(s\)|pod \S{1,253}) had (?:untolerated )?taint(?:s|\(s\))?"
    r"(?: \{(?P<taint>[^}]{0,300})\})?"
)
_RESOURCE = re.compile(r"(?P<n>\d{1,6}) Insufficient (?P<resource>[\w./-]{1,200}[\w])")
_CLAIM = re.compile(r"unbound immediate PersistentVolumeClaims|persistentvolumeclaim \"")

_PROVISIONER = re.compile(r"incompatible with (?:nodepool|provisioner) ")
_SIZES = re.compile(r"no instance type satisfied resources \{(?P<sizes>[^}]{0,500})\}")
_SIZE = re.compile(r"\"(?P<resource>[\w./-]{1,200})\":\"")
_UNTOLERATED = re.compile(r"did not tolerate (?:taints? )?(?P<taint>[\w./=-]{1,300})")
_UNMET: tuple[tuple[Obstacle, re.Pattern[str]], ...] = (
    (Obstacle.LABELS, re.compile(r"incompatible requirements|does not have known values")),
    (Obstacle.ANTI_AFFINITY, re.compile(r"unsatisfiable topology constraint for pod anti-aff")),
    (Obstacle.POD_AFFINITY, re.compile(r"unsatisfiable topology constraint for pod aff")),
    (Obstacle.SPREAD, re.compile(r"unsatisfiable topology constraint for topology spread")),
)
"""How a provisioner of nodes says why it makes none."""


def read(message: str) -> tuple[Refusal, ...]:
    """Return what stood in the way by the message of a scheduler or autoscaler; maybe nothing."""
    if _PROVISIONER.search(message):
        return tuple(_of_provisioner(message))
    if not _HEAD.search(message) and not _SHORT.search(message):
        return ()
    return tuple(_refusals(_TAIL.split(message, maxsplit=1)[0]))


def counting(refusals: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """Leave out what is normal, that nobody tolerates a control plane, if more was said."""
    given = tuple(refusals)
    rest = tuple(one for one in given if one.obstacle is not Obstacle.CONTROL_PLANE)
    named = tuple(one for one in rest if one.obstacle is not Obstacle.TAINT or one.detail)
    return named or rest or given


def nodes_in(message: str) -> int | None:
    """Return how many nodes the scheduler looked at."""
    found = _HEAD.search(message)
    return int(found["all"]) if found and found["all"] else None


def kind_of_taint(taint: str) -> Obstacle:
    """Return what a taint such as `dedicated: gpu` or `dedicated=gpu` stands for."""
    if _CONTROL_PLANE.search(taint):
        return Obstacle.CONTROL_PLANE
    if _TROUBLE.search(taint):
        return Obstacle.TROUBLE
    return Obstacle.CORDON if _CORDON.search(taint) else Obstacle.TAINT


def _refusals(text: str) -> Iterator[Refusal]:
    for obstacle, pattern in _SIMPLE:
        for found in pattern.finditer(text):
            yield Refusal(obstacle, int(found["n"]))
    for found in _TAINT.finditer(text):
        taint = (found["taint"] or "").strip().rstrip(":").strip()
        yield Refusal(kind_of_taint(taint), int(found["n"] or 1), taint)
    for found in _RESOURCE.finditer(text):
        yield Refusal(Obstacle.RESOURCE, int(found["n"]), found["resource"])
    if _CLAIM.search(text):
        yield Refusal(Obstacle.VOLUME, nodes_in(text) or 1)


def _of_provisioner(message: str) -> Iterator[Refusal]:
    for sizes in _SIZES.finditer(message):
        for size in _SIZE.finditer(sizes["sizes"]):
            if size["resource"] != "pods":
                yield Refusal(Obstacle.RESOURCE, 1, size["resource"])
    for found in _UNTOLERATED.finditer(message):
        taint = found["taint"].replace("=", ": ", 1)
        yield Refusal(kind_of_taint(taint), 1, taint)
    yield from (Refusal(one, 1) for one, pattern in _UNMET if pattern.search(message))
