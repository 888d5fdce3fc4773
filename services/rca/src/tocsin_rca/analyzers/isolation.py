"""Namespaces that a policy shuts off as a whole, where no workload of theirs was seen."""

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.calls import Call, How, failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import subject
from tocsin_rca.evidence.known import Known, known, running
from tocsin_rca.evidence.lines import quoted
from tocsin_rca.evidence.policies import Direction, directions, is_deny_all

_SHUT_OFF = (How.DNS_SILENT, How.TIMED_OUT, How.UNREACHABLE)


class Isolation:
    """A policy that selects every pod lets nothing out, and calls get no answer."""

    name = "isolation"

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; which traffic is meant to pass is for a person to say."""
        namespace = subject(case).namespace
        calls = [call for call in failed_calls(case) if call.how in _SHUT_OFF]
        if not calls or running(case, namespace):
            return ()
        policies = [p for p in known(case, "NetworkPolicy") if p.ref.namespace == namespace]
        shutting = [one for one in policies if _shuts_off(one)]
        opening = any(Direction.EGRESS in directions(p) for p in policies if p not in shutting)
        return (_finding(shutting[0], calls, 0.7 if opening else 0.9),) if shutting else ()


def _shuts_off(policy: Known) -> bool:
    """Whether it selects every pod and lets nothing out; what was not seen is not empty."""
    selects_all = policy.manifest.dig("spec", "podSelector") == {}
    return selects_all and is_deny_all(policy, Direction.EGRESS)


def _finding(policy: Known, calls: list[Call], confidence: float) -> Finding:
    return Finding(
        cause=CauseClass.NETWORK_POLICY_BLOCKS,
        object=policy.ref,
        confidence=confidence,
        summary=f"{policy.ref} lets no pod of its namespace call anybody: {quoted(calls[0].line)}",
        evidence=tuple(dict.fromkeys((*policy.ids, *(call.line.id for call in calls[:3])))),
        because="Which traffic is meant to pass is for a person to say.",
    )
