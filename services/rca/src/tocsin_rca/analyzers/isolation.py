"""Namespaces that a policy shuts off as a whole, where no workload of theirs was seen."""

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.calls import Call, How, failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.known import Known, known, running
from tocsin_rca.evidence.lines import quoted
from tocsin_rca.evidence.policies import Direction, directions, is_deny_all

_UNANSWERED = (How.TIMED_OUT, How.UNREACHABLE)
_SIGNS = {
    Direction.EGRESS: (How.DNS_SILENT, *_UNANSWERED),
    Direction.INGRESS: _UNANSWERED,
}
"""How calls fail; those to name servers go out of the namespace."""


class Isolation:
    """A policy that selects every pod lets nothing in or out, and calls get no answer."""

    name = "isolation"
    needs = "The network policies of the namespace, what runs there, and the calls that failed."
    proof = (
        "A policy that selects every pod of the namespace lets nothing in or out, and calls get "
        "no answer."
    )
    against = (
        "Another policy may open the same way, calls fail otherwise, or workloads were seen that "
        "can be judged one by one."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; which traffic is meant to pass is for a person to say."""
        namespace = subject(case).namespace
        if running(case, namespace):
            return ()
        policies = [p for p in known(case, "NetworkPolicy") if p.ref.namespace == namespace]
        for way, signs in _SIGNS.items():
            calls = [call for call in failed_calls(case) if call.how in signs]
            shutting = [one for one in policies if _shuts_off(one, way)]
            opening = any(way in directions(p) for p in policies if p not in shutting)
            if calls and shutting:
                return (_finding(shutting[0], calls, way, 0.7 if opening else 0.9),)
        return ()


def _shuts_off(policy: Known, way: Direction) -> bool:
    """Whether it selects every pod and lets nothing by; what was not seen is not empty."""
    return policy.manifest.dig("spec", "podSelector") == {} and is_deny_all(policy, way)


def _finding(policy: Known, calls: list[Call], way: Direction, confidence: float) -> Finding:
    return Finding(
        cause=CauseClass.NETWORK_POLICY_BLOCKS,
        object=policy.ref,
        confidence=confidence,
        summary=f"{policy.ref} allows no pod of its namespace any {way.value.lower()}:"
        f" {quoted(calls[0].line)}",
        evidence=tuple(dict.fromkeys((*policy.ids, *(call.line.id for call in calls[:3])))),
        because="Which traffic is meant to pass is for a person to say.",
    )
