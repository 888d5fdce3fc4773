"""NetworkPolicies that keep pods from name servers, or from what they call."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.admitting import admit, steady
from tocsin_rca.evidence.callees import Callee, callee, edges, end
from tocsin_rca.evidence.calls import Call, How, failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.doubts import Doubt, explained, weighed
from tocsin_rca.evidence.hosts import means
from tocsin_rca.evidence.known import Known, Runs, known, running
from tocsin_rca.evidence.openings import only_opening
from tocsin_rca.evidence.policies import Direction, Door, End, allows, isolates, presumed

_DNS = End("kube-system", {"k8s-app": "kube-dns"}, {"kubernetes.io/metadata.name": "kube-system"})
_BY_NAME = (How.DNS_SILENT, How.NO_NAME)
_DROPPED = (How.TIMED_OUT, How.UNREACHABLE, How.UNAVAILABLE, How.RESET)


@dataclass(frozen=True, slots=True)
class _Wall:
    """A connection that policies do not let through, and the failed calls that bear it out."""

    policies: tuple[Known, ...]
    direction: Direction
    caller: Runs | None
    called: str
    peer: End | None
    door: Door
    certain: bool
    failed: tuple[Call, ...]
    ids: tuple[str, ...]
    concerned: bool


class NetworkPolicy:
    """What pods need is denied by every policy that selects them."""

    name = "network_policy"
    needs = "The network policies, the labels and ports of both ends, and the failed calls."
    proof = "Every policy that selects one end denies the connection; failed calls bear it out."
    against = "A rule may allow it, calls are refused and not dropped, or none is seen to fail."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each policy, of the connection that is denied most surely."""
        policies = known(case, "NetworkPolicy")
        if not policies:
            return ()
        calls = failed_calls(case)
        walls = [*_names(case, policies, calls), *_asked(case, policies, calls)]
        walls += [*_configured(case, policies, calls), *_outside(case, policies, calls)]
        walls += _named(case, policies, calls)
        found: dict[str, Finding] = {}
        for finding in sorted((_finding(case, w) for w in walls), key=lambda f: -f.confidence):
            found.setdefault(str(finding.object), finding)
        return tuple(found.values())


def _names(case: Case, policies: tuple[Known, ...], calls: tuple[Call, ...]) -> Iterator[_Wall]:
    """Name servers that callers cannot ask, which is seen at the first call of any other."""
    failed = tuple(call for call in calls if call.how in _BY_NAME)
    door = Door(53, "UDP")
    for runs in _callers(case, policies, failed):
        own, direction = end(case, runs), Direction.EGRESS
        wall = _blocked(policies, own, direction, _DNS, door)
        if wall and (failed or _is_ours(case, runs)):
            chosen, certain = wall
            yield _Wall(
                chosen, direction, runs, "name servers (port 53)", _DNS, door, certain, failed,
                runs.known.ids, _is_ours(case, runs),
            )  # fmt: skip


def _asked(case: Case, policies: tuple[Known, ...], calls: tuple[Call, ...]) -> Iterator[_Wall]:
    """Services that somebody asked and got no answer from."""
    for call in calls:
        for caller in _callers(case, policies, (call,)) if call.place else ():
            found = callee(case, call.place, caller.ref.namespace) if call.place else None
            if found:
                yield from _between(case, policies, caller, found, (call,))


def _configured(
    case: Case, policies: tuple[Known, ...], calls: tuple[Call, ...]
) -> Iterator[_Wall]:
    """Services that workloads are told to ask, whatever they say of it."""
    for edge in edges(case):
        namespace, service = edge.caller.ref.namespace, edge.callee.service.ref
        failed = tuple(
            call
            for call in calls
            if call.how in _DROPPED and _may_be(call, service, namespace, edge.caller)
        )
        yield from _between(case, policies, edge.caller, edge.callee, failed)


def _may_be(call: Call, service: ObjectRef, namespace: str, caller: Runs) -> bool:
    """Whether a call may be that of a caller to a Service, as far as its line says."""
    if call.line.pod and not call.line.pod.startswith(caller.ref.name):
        return False
    return call.place is None or means(call.place, service, namespace)


def _outside(case: Case, policies: tuple[Known, ...], calls: tuple[Call, ...]) -> Iterator[_Wall]:
    """Hosts outside the cluster that do not answer in time."""
    for call in calls:
        place = call.place
        if place is None or place.may_be_a_service or call.how not in _DROPPED or place.is_local:
            continue
        for caller in _callers(case, policies, (call,)):
            if callee(case, place, caller.ref.namespace):
                continue
            own, door = _end(case, policies, caller), Door(place.port)
            peer = End(caller.ref.namespace, None) if place.is_private else None
            wall = _blocked(policies, own, Direction.EGRESS, peer, door)
            if wall and (wall[1] or not place.is_private):
                chosen, certain = wall
                yield _Wall(
                    chosen, Direction.EGRESS, caller, place.host, None, door, certain, (call,),
                    caller.known.ids, _is_ours(case, caller),
                )  # fmt: skip


def _named(case: Case, policies: tuple[Known, ...], calls: tuple[Call, ...]) -> Iterator[_Wall]:
    """Services that were not seen, but pods of that name are shut off from those who ask."""
    for call in calls:
        place = call.place
        if place is None or not place.may_be_a_service or call.how not in _DROPPED:
            continue
        for caller in _callers(case, policies, (call,)):
            meant = place.service(caller.ref.namespace)
            labels = presumed(policies, meant.namespace, meant.name)
            if labels is None or callee(case, place, caller.ref.namespace):
                continue
            own, door = End(meant.namespace, labels), Door(place.port)
            wall = _blocked(policies, own, Direction.INGRESS, end(case, caller), door)
            if wall:
                yield _Wall(
                    wall[0], Direction.INGRESS, caller, meant.name, end(case, caller), door,
                    wall[1], (call,), caller.known.ids, _is_ours(case, caller),
                )  # fmt: skip


def _between(
    case: Case, policies: tuple[Known, ...], caller: Runs, asked: Callee, failed: tuple[Call, ...]
) -> Iterator[_Wall]:
    if asked.runs is None or asked.runs.ref == caller.ref:
        return
    own, other = end(case, caller), end(case, asked.runs)
    sides = ((own, other, Direction.EGRESS), (other, own, Direction.INGRESS))
    ours = _is_ours(case, caller) or _is_ours(case, asked.runs) or asked.service.ref == case.named
    for selected, peer, direction in sides:
        wall = _blocked(policies, selected, direction, peer, asked.door)
        if wall:
            chosen, certain = wall
            ids = (*asked.service.ids, *asked.runs.known.ids, *caller.known.ids)
            yield _Wall(
                chosen, direction, caller, str(asked.service.ref), peer, asked.door, certain,
                failed, ids, ours,
            )  # fmt: skip


def _blocked(
    policies: tuple[Known, ...], own: End, direction: Direction, peer: End | None, door: Door
) -> tuple[tuple[Known, ...], bool] | None:
    """The policies that deny it together, and whether that is certain; None if it is let through.

    A policy that was seen without its rules may allow anything.
    """
    chosen = tuple(p for p in policies if _is_told(p) and isolates(p, own, direction))
    answers = {allows(policy, direction, peer, door) for policy in chosen}
    if not chosen or True in answers:
        return None
    return chosen, None not in answers


def _is_told(policy: Known) -> bool:
    """Whether its rules were seen: a table shows a name and what it selects, and no more."""
    return policy.manifest.whole or policy.manifest.dig("spec", "policyTypes") is not None


def _callers(case: Case, policies: tuple[Known, ...], failed: tuple[Call, ...]) -> tuple[Runs, ...]:
    """Who made calls: whose pod wrote the line, or else the workload of the alert, or else all."""
    namespaces = {policy.ref.namespace for policy in policies}
    if case.workload:
        namespaces.add(case.workload.namespace)
    every = [runs for namespace in sorted(namespaces) for runs in running(case, namespace)]
    pods = {call.line.pod for call in failed if call.line.pod}
    wrote = tuple(r for r in every if any(pod.startswith(r.ref.name) for pod in pods))
    return wrote or tuple(r for r in every if r.ref == case.workload) or tuple(every)


def _end(case: Case, policies: tuple[Known, ...], runs: Runs) -> End:
    """What is known of the pods; where their labels were not seen, what their name suggests."""
    known_end = end(case, runs)
    if known_end.labels is not None:
        return known_end
    return replace(known_end, labels=presumed(policies, runs.ref.namespace, runs.ref.name))


def _is_ours(case: Case, runs: Runs) -> bool:
    return runs.ref in (case.workload, case.named)


def _finding(case: Case, wall: _Wall) -> Finding:
    found = only_opening(case, wall.policies, wall.direction, wall.peer, wall.door)
    rules = ("spec", wall.direction.rules)
    policy = found[0] if found else max(wall.policies, key=lambda p: not p.manifest.items(*rules))
    change = found[1].change(policy.ref) if found else _rule(case, policy, wall)
    because = found[1].because if found else "A rule that allows just this has to be added."
    doubts = tuple(_doubts(case, wall))
    caller = str(wall.caller.ref) if wall.caller else "pods"
    names = ", ".join(one.ref.name for one in wall.policies)
    ids = [*policy.ids, *(call.line.id for call in wall.failed[:3]), *wall.ids]
    return Finding(
        cause=CauseClass.NETWORK_POLICY_BLOCKS,
        object=policy.ref,
        confidence=weighed(0.96 if wall.failed else 0.85, doubts),
        summary=f"No rule of {names} lets {caller} reach {wall.called}"
        f"{_at(wall)}: {wall.direction.value.lower()} is restricted and not allowed.",
        evidence=tuple(dict.fromkeys(ids)),
        change=change,
        because=explained(because, doubts),
    )


def _rule(case: Case, policy: Known, wall: _Wall) -> FieldChange | None:
    """A rule for just this, if calls failed: of a Service that was not seen no port is known."""
    known_port = wall.peer is _DNS or wall.called.startswith("Service ")
    proven = wall.certain and wall.failed and known_port
    return admit(policy, wall.direction, steady(case, wall.peer), wall.door) if proven else None


def _at(wall: _Wall) -> str:
    return f" at port {wall.door.port}" if wall.door.port and "port" not in wall.called else ""


def _doubts(case: Case, wall: _Wall) -> Iterator[Doubt]:
    if wall.caller and not wall.caller.labels and wall.direction is Direction.EGRESS:
        yield Doubt("the labels of the pods were not seen, but their name fits the policy", 0.1)
    if not wall.certain:
        yield Doubt("a rule with a named port or an address range may allow it", 0.3)
    if wall.failed and all(call.how is How.REFUSED for call in wall.failed):
        yield Doubt("a policy mostly drops packets, and here connections are refused", 0.2)
    if not wall.failed and not wall.concerned:
        yield Doubt("the alert is about something else, and no call is seen to fail", 0.35)
    if case.workload is None and not wall.failed:
        yield Doubt("it is not known which workload suffers", 0.1)
