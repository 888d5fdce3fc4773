"""Pods whose own DNS settings keep them from resolving the names of the cluster."""

from collections.abc import Iterator
from dataclasses import dataclass

from tocsin_cluster.manifest import POD_TEMPLATE, dig
from tocsin_contracts import CauseClass, FieldChange, FieldPath, Finding, ObjectRef
from tocsin_rca.evidence.calls import Call, How, failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.known import Runs, known_object, running

_BY_NAME = (How.NO_NAME, How.DNS_SILENT)
_CLUSTER_FIRST = "ClusterFirst"
_ON_HOST = "ClusterFirstWithHostNet"
_DNS = tuple(
    ObjectRef(kind="Service", namespace="kube-system", name=name)
    for name in ("kube-dns", "coredns", "rke2-coredns-rke2-coredns")
)


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A setting that keeps names from being resolved, in words, and the policy that would not."""

    sentence: str
    policy: str | None
    sure: float


class PodDns:
    """The DNS policy or the name servers of a pod are not those of the cluster."""

    name = "pod_dns"
    needs = "The DNS settings of the workload, and failed look-ups in logs or checks."
    proof = (
        "The DNS policy, name servers or search domains of its pods leave out the DNS of the "
        "cluster."
    )
    against = (
        "Name servers and search domains that are those of the cluster; no look-up that was seen "
        "to fail."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each workload whose look-ups fail, or that the alert is about."""
        calls = tuple(call for call in failed_calls(case) if call.how in _BY_NAME)
        namespace = case.workload.namespace if case.workload else ""
        found = []
        for runs in running(case, namespace):
            failed = _own(case, runs, calls)
            if failed or runs.ref in (case.workload, case.named):
                found += [_finding(case, runs, wrong, failed) for wrong in _wrong(case, runs)]
        return tuple(found)


def _own(case: Case, runs: Runs, calls: tuple[Call, ...]) -> tuple[Call, ...]:
    wrote = tuple(c for c in calls if c.line.pod.startswith(runs.ref.name) and c.line.pod)
    nobodys = tuple(c for c in calls if not c.line.pod)
    return wrote or (nobodys if runs.ref == case.workload else ())


def _wrong(case: Case, runs: Runs) -> Iterator[_Wrong]:
    spec = runs.known.manifest.template.get("spec") or {}
    policy, on_host = spec.get("dnsPolicy"), spec.get("hostNetwork") is True
    right = _ON_HOST if on_host else _CLUSTER_FIRST
    servers = [str(one) for one in dig(spec, "dnsConfig", "nameservers") or ()]
    own = _cluster_servers(case)
    if policy == "None" and servers and not (own & set(servers)):
        yield _Wrong(f"asks {', '.join(servers)} only, not the cluster's DNS", right, 0.95)
    elif policy == "None" and not servers:
        yield _Wrong("has no name server at all", right, 0.95)
    elif policy == "None" and not _searches(spec):
        yield _Wrong("searches no domain of the cluster, so that short names fail", right, 0.9)
    elif policy == "Default":
        yield _Wrong("asks the name servers of its node, which do not know Services", right, 0.92)
    elif on_host and policy == _CLUSTER_FIRST:
        yield _Wrong(f"is on the network of its node, where {policy} does not hold", right, 0.85)


def _cluster_servers(case: Case) -> set[str]:
    """The addresses of the cluster's DNS; those that nearly every cluster uses are known."""
    seen = (known_object(case, ref) for ref in _DNS)
    found = {str(one.manifest.dig("spec", "clusterIP")) for one in seen if one}
    return found or {"10.96.0.10", "172.20.0.10", "10.100.0.10", "10.43.0.10", "169.254.20.10"}


def _searches(spec: dict[str, object]) -> bool:
    return any("svc" in str(one) for one in dig(spec, "dnsConfig", "searches") or ())


def _finding(case: Case, runs: Runs, wrong: _Wrong, failed: tuple[Call, ...]) -> Finding:
    base: FieldPath = (*POD_TEMPLATE.get(runs.ref.kind, ()), "spec", "dnsPolicy")
    spec = runs.known.manifest.template.get("spec") or {}
    old = spec.get("dnsPolicy")
    undone = case.last_change(runs.ref, base, old)
    before = undone.field.before if undone else None
    new = before if isinstance(before, str) else wrong.policy
    because = f"{undone.told} changed it from {before}; this undoes that." if undone else (
        f"With {wrong.policy} the name servers of the cluster are asked first."
    )  # fmt: skip
    return Finding(
        cause=CauseClass.DNS_MISCONFIGURED,
        object=runs.ref,
        confidence=wrong.sure if failed else round(wrong.sure - 0.15, 2),
        summary=f"{runs.ref} cannot resolve names of the cluster: it {wrong.sentence}.",
        evidence=tuple(dict.fromkeys((*runs.known.ids, *(call.line.id for call in failed[:3])))),
        change=FieldChange(object=runs.ref, path=base, old=old, new=new),
        because=because,
    )
