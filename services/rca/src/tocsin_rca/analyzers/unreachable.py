"""Callees that refuse, do not answer or have no name, as the logs of their callers say."""

from collections import defaultdict
from collections.abc import Iterable

from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.callees import Callee, callee
from tocsin_rca.evidence.calls import Call, How, failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.lines import ids_of, quoted

_SURENESS = {
    How.REFUSED: 0.85,
    How.NO_NAME: 0.8,
    How.TIMED_OUT: 0.8,
    How.UNREACHABLE: 0.85,
    How.UNAVAILABLE: 0.75,
    How.RESET: 0.65,
    How.DNS_SILENT: 0.65,
}
_OFTEN = 3
_UNNAMED = 0.12


class Unreachable:
    """Calls fail at the connection, whoever is to blame."""

    name = "unreachable"
    needs = "Lines of logs and of checks that tell of failed calls, and the Services they name."
    proof = (
        "Calls fail at the connection: refused, reset, timed out, without a route, or to a name "
        "that is not resolved."
    )
    against = "The call was to the pod itself; no line says whom it called; just a few such lines."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each host; calls to unknown hosts count if there are no others."""
        by_host: dict[str, list[Call]] = defaultdict(list)
        for call in failed_calls(case):
            if call.place is None or not call.place.is_local:
                by_host[call.place.host if call.place else ""].append(call)
        unnamed = by_host.pop("", [])
        groups: Iterable[list[Call]] = by_host.values() or ([unnamed] if unnamed else [])
        return tuple(_finding(case, calls) for calls in groups)


def _finding(case: Case, calls: list[Call]) -> Finding:
    first = max(calls, key=lambda call: _SURENESS[call.how])
    found = _callee(case, first)
    lines = tuple(call.line for call in calls)
    sure = _SURENESS[first.how] + (0.05 if len(calls) >= _OFTEN else 0)
    sure -= 0 if first.place else _UNNAMED
    place = first.place
    where = "what it calls" if place is None else f"{place.host}{_port(place.port)}"
    caller = case.workload or case.named
    return Finding(
        cause=CauseClass.DEPENDENCY_UNREACHABLE,
        object=_blamed(case, found),
        confidence=round(sure, 2),
        summary=f"{caller or 'A client'} cannot reach {where}: {first.how.value}"
        f" ({quoted(first.line)}).",
        evidence=tuple(dict.fromkeys((*ids_of(lines)[:4], *(found.service.ids if found else ())))),
        because="What is called is outside of what the caller's manifest sets right.",
    )


def _port(port: int | None) -> str:
    return f":{port}" if port else ""


def _callee(case: Case, call: Call) -> Callee | None:
    near = case.workload or case.named
    namespace = near.namespace if near else ""
    return callee(case, call.place, namespace) if call.place else None


def _blamed(case: Case, found: Callee | None) -> ObjectRef:
    if found and found.runs and found.runs.ref != case.workload:
        return found.runs.ref
    if found:
        return found.service.ref
    name = case.alert.title
    return case.workload or case.named or ObjectRef(kind="Alert", name=name)
