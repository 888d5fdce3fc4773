"""Ports that two programs of one pod, or of one node, want."""

import re

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.decisive import decisive
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.hearing import Saying, findings
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.placement import Obstacle
from tocsin_rca.evidence.unscheduled import unscheduled

_IN_USE = re.compile(
    r"(?i)address (?:is )?already in use|EADDRINUSE|address in use\b|\[Errno 9?48\]"
    r"|port \d{1,5} (?:is|was) already (?:in use|being used|allocated)|port is already allocated"
    r"|Only one usage of each socket address|BindException: (?!Cannot assign)"
    r"|another process is (?:already )?(?:using|listening on) (?:this |the )?(?:same )?port"
    r"|didn't have free ports for the requested pod ports|host ?port conflict"
)


class PortConflict:
    """A program cannot listen because its port is taken."""

    name = "port_conflict"
    needs = "Logs, endings or the words of the scheduler, and the ports that containers declare."
    proof = (
        "A program says that its address is in use, or the port of the node that it wants is "
        "taken on every node that would do."
    )
    against = (
        "Another obstacle that decides on the nodes; a line that is only for information; words "
        "of another workload."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; surer if two containers of the pod declare one port."""
        return _of_programs(case) or _of_the_node(case)


def _of_programs(case: Case) -> tuple[Finding, ...]:
    means = "{who} cannot listen on its port, which is taken: {said}"
    found = findings(case, Saying(CauseClass.PORT_CONFLICT, _IN_USE, 0.92, means))
    workload = design(case)
    if found and workload and (shared := _shared(workload)):
        (finding,) = found
        return (
            finding.model_copy(
                update={
                    "confidence": min(0.97, round(finding.confidence + 0.04, 2)),
                    "summary": f"{finding.summary} Containers {shared} declare the same port.",
                }
            ),
        )
    return found


def _of_the_node(case: Case) -> tuple[Finding, ...]:
    """A port of the node that the pod wants, and that every fitting node has given away."""
    seen = unscheduled(case)
    refusal = decisive(seen) if seen else None
    if seen is None or refusal is None or refusal.obstacle is not Obstacle.PORTS:
        return ()
    containers = seen.manifest.containers() if seen.manifest else ()
    wanted = [str(p["hostPort"]) for c in containers for p in c.items("ports") if p.get("hostPort")]
    which = f" {', '.join(wanted)}" if wanted else ""
    return (
        Finding(
            cause=CauseClass.PORT_CONFLICT,
            object=seen.object,
            confidence=seen.sure(0.94),
            summary=f"{seen.object} wants a port of the node{which}, and it is taken on"
            f" {refusal.count} nodes that would do.",
            evidence=seen.proven_by(),
            because="Whether it needs a port of the node at all is for people to say.",
        ),
    )


def _shared(workload: Observation[Manifest]) -> str:
    """Return the names of the first two containers that declare one port; empty if none do."""
    taken: dict[tuple[str, str], str] = {}
    for container in workload.data.containers():
        if "initContainers" in container.path:
            continue
        for port in container.items("ports"):
            key = (str(port.get("containerPort")), str(port.get("protocol", "TCP")))
            other = taken.setdefault(key, container.name)
            if other != container.name:
                return f"{other} and {container.name}"
    return ""
