"""Packets that are late or lost, as tools, experiments and interfaces tell."""

import re
from collections.abc import Iterator

from tocsin_cluster.printed import Printed
from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.lines import Line, quoted, saying

_LOSS = re.compile(r"(?P<share>\d{1,3}(?:\.\d{1,4})?)% packet loss")
_QUEUE = re.compile(r"(?i)\bqdisc netem\b.{0,200}\b(?:delay|loss|corrupt|duplicate|reorder|rate)\b")
_SAID = re.compile(
    r"(?i)packet[_ -]?loss[^\n]{0,40}(?:high|detected|[1-9]\d?(?:\.\d+)?%)|high packet loss"
    r"|(?:network|link)[_ -](?:delay|latency|jitter)[^\n]{0,40}(?:high|injected|detected)"
    r"|retransmi(?:t|ssion)\w{0,3}[^\n]{0,30}(?:high|rate|spik\w{1,2})|NIC Link is Down"
    r"|network[_ -](?:instability|flapping|degrad(?:ed|ation)|congestion)"
    r"|TX hang|carrier lost|dropped packets"
)
_RTT = re.compile(r"(?:rtt|round-trip)[^=\n]{0,40}= ?[\d.]{1,10}/(?P<ms>[\d.]{1,10})/")
_CONNECT = re.compile(
    r"(?i)\btcp[_ ]connect\w{0,3}\b[^\n]{0,80}?[ =:](?P<ms>\d{3,6})(?:\.\d{1,3})? ?ms\b"
)
_CHAOS = ("NetworkChaos",)
_SHAPED = ("delay", "loss", "corrupt", "duplicate", "bandwidth", "netem", "partition")
_SOME_LOSS, _ALL = 1.0, 100.0
_SLOW_TO_CONNECT = 500.0
"""Milliseconds that no program can be the cause of: its kernel answers for it."""

_LATE = 100.0
"""Milliseconds from one pod to another that are far more than a cluster's own network takes."""


class NetworkDegraded:
    """Something that looks at the network itself says that it is late or loses packets."""

    name = "network_degraded"
    needs = "What pings, connect times, queues and interfaces show, and network experiments."
    proof = (
        "Packets are measured to be late or lost, or a queue or an experiment delays or drops them."
    )
    against = (
        "Calls only time out, or every packet is lost, which is a break and not a bad network."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; calls that only time out are not proof of it."""
        experiments = [*_experiments(case)]
        measured = tuple(_measured(case))
        if not experiments and not measured:
            return ()
        about = case.workload or case.named or ObjectRef(kind="Alert", name=case.alert.title)
        said = experiments[0][1] if experiments else quoted(measured[0])
        ids = (*(id_ for id_, _ in experiments), *(line.id for line in measured))
        return (
            Finding(
                cause=CauseClass.NETWORK_DEGRADED,
                object=about,
                confidence=0.93 if experiments else 0.9,
                summary=f"The network of {about} delays or loses packets ({said}).",
                evidence=tuple(dict.fromkeys(ids))[:5],
                because="No manifest of the workload says how the network behaves.",
            ),
        )


def _experiments(case: Case) -> Iterator[tuple[str, str]]:
    for kind in _CHAOS:
        for seen in case.manifests(kind):
            action = str(seen.data.dig("spec", "action") or "")
            if action in _SHAPED:
                yield seen.id, f"{seen.data.ref} injects {action}"


def _measured(case: Case) -> Iterator[Line]:
    for line in saying(case, _LOSS):
        found = _LOSS.search(line.text)
        if found and _SOME_LOSS <= float(found["share"]) < _ALL:
            yield line
    yield from _late(case, _RTT, _LATE)
    yield from _late(case, _CONNECT, _SLOW_TO_CONNECT)
    yield from saying(case, _QUEUE)
    yield from saying(case, _SAID)
    for seen in case.observations:
        if isinstance(seen.data, Printed) and _QUEUE.search(seen.data.text[:20000]):
            yield Line(seen.id, "a queue of this interface delays or loses packets")


def _late(case: Case, pattern: re.Pattern[str], least: float) -> Iterator[Line]:
    for line in saying(case, pattern):
        found = pattern.search(line.text)
        if found and _milliseconds(found["ms"]) >= least:
            yield line


def _milliseconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0
