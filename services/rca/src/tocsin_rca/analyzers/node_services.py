"""Services that make a machine a node: the kubelet, the container runtime, the service proxy."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.components import ailing
from tocsin_rca.evidence.concern import alert_id, alert_words
from tocsin_rca.evidence.statements import logged, told
from tocsin_rca.evidence.units import Unit, units

_LONGEST = 64_000


@dataclass(frozen=True, slots=True)
class _Service:
    """A service of nodes, its units, and how alerts and messages say that it does not run."""

    cause: CauseClass
    word: str
    units: tuple[str, ...]
    alert: re.Pattern[str]
    said: re.Pattern[str]


_SERVICES = (
    _Service(
        CauseClass.CONTAINER_RUNTIME_DOWN,
        "container runtime",
        ("containerd", "docker", "crio", "cri-o", "cri-docker", "dockerd"),
        re.compile(
            r"(?i)(?:containerd|dockerd?|cri-?o|container.?runtime).{0,20}(?:down|not running)"
        ),
        re.compile(
            r"container runtime is down|(?:containerd|crio|cri-dockerd|dockershim"
            r"|docker)\.sock\\?\"?:"
            r" (?:connect: )?(?:connection refused|no such file)"
            r"|Cannot connect to the Docker daemon"
            r"|container runtime is not running"
            r"|container runtime status check may not have completed"
            r"|PLEG is not healthy: pleg (?:was last seen active|has yet to be successful)"
            r"|(?:containerd|docker|crio)\.service: (?:Failed with result|Main process exited)"
        ),
    ),
    _Service(
        CauseClass.KUBELET_DOWN,
        "kubelet",
        ("kubelet", "k3s-agent", "k3s", "rke2-agent", "snap.microk8s.daemon-kubelite"),
        re.compile(r"KubeletDown|(?i:kubelet.{0,20}(?:is down|not running|stopped|disappeared))"),
        re.compile(
            r"[Ff]ailed to run [Kk]ubelet|kubelet\.service: (?:Failed with result|Main process"
            r" exited)|Stopped (?:kubelet|Kubernetes Kubelet|kubelet\.service)"
            r"|:10248/healthz\\?\"?: dial tcp|kubelet isn't running or healthy"
            r"|dial tcp \S{1,60}:10250: connect: connection refused"
        ),
    ),
    _Service(
        CauseClass.KUBE_PROXY_DOWN,
        "service proxy",
        ("kube-proxy",),
        re.compile(r"KubeProxyDown|(?i:kube-?proxy.{0,20}(?:down|not running|disappeared|absent))"),
        re.compile(r"kube-proxy\.service: (?:Failed with result|Main process exited)"),
    ),
)


class NodeServices:
    """A check, a journal, a condition or the alert says that one of them does not run."""

    name = "node_services"
    needs = "The states of services on the node, their journals, checks and pods, and the alert."
    proof = (
        "The kubelet, the container runtime or the service proxy is stopped, or is said to be down."
    )
    against = (
        "It was not seen to be stopped: a message, a pod, a check or the alert alone is less sure."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each; services of nodes are put right on the node."""
        down = [one for one in units(case) if one.down]
        found = (finding for service in _SERVICES for finding in _findings(case, service, down))
        return tuple(found)


def _findings(case: Case, service: _Service, down: list[Unit]) -> Iterator[Finding]:
    """Yield at most one finding, by what proves it best."""
    stopped = [one for one in down if one.name in service.units]
    said = (*told(case, service.said), *logged(case, service.said))
    pods = ailing(case, service.units)
    alerted = service.alert.search(alert_words(case)) is not None
    checked = [one.id for one in case.checks if service.alert.search(one.data.text[:_LONGEST])]
    signs = (
        (0.97, f"is {stopped[0].state}" if stopped else "", tuple(o.id for o in stopped)),
        (0.9, f"is said to be down: {said[0].match.group()}" if said else "", _ids(said[:3])),
        (0.9, f"has a pod that is {pods[0].state}" if pods else "", tuple(p.id for p in pods)),
        (0.88, "is down, as a check says" if checked else "", tuple(checked[:3])),
        (0.85, "is down, as the alert says" if alerted else "", alert_id(case)),
    )
    for confidence, words, ids in signs:
        if words and ids:
            command = stopped[0].command if stopped else ""
            node = _node(case, command, [one.about for one in said])
            yield Finding(
                cause=service.cause,
                object=node,
                confidence=confidence,
                summary=f"The {service.word} of {node} {words}.",
                evidence=tuple(dict.fromkeys(ids)),
            )
            return


def _ids(said: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(str(getattr(one, "id", "")) for one in said)


def _node(case: Case, command: str, about: list[ObjectRef | None]) -> ObjectRef:
    """Return the node: named by what was said, by the command, by the alert, or under the pods."""
    said = next((ref for ref in about if ref and ref.kind == "Node"), None)
    nodes = [seen.data.ref for seen in case.objects("Node")]
    meant = [ref for ref in nodes if ref.name in command]
    label = case.alert.labels.get("node") or case.alert.labels.get("instance")
    named = ObjectRef(kind="Node", name=label.partition(":")[0]) if label else None
    if case.named and case.named.kind == "Node":
        named = case.named
    only = nodes[0] if len(nodes) == 1 else None
    fallback = ObjectRef(kind="Node", name="unknown")
    return said or (meant[0] if meant else None) or named or only or fallback
