"""Name servers of the cluster that are configured to refuse the names that pods ask for."""

import re
from collections.abc import Iterator

from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.calls import How, failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import Saying, findings
from tocsin_rca.evidence.known import Known, known

_MAPS = ("coredns", "coredns-custom", "kube-dns", "rke2-coredns-rke2-coredns", "node-local-dns")
_REFUSES = re.compile(
    r"(?m)^\s{0,20}(?P<plugin>template|acl|hosts|rewrite|erratic)\b[^\n{]{0,200}"
    r"(?P<block>\{[^{}]{0,600}\})?"
)
_RCODE = re.compile(r"(?i)rcode\s{1,4}(?:NXDOMAIN|SERVFAIL|REFUSED)|\b(?:block|drop)\b")
_SILENT = re.compile(
    r"plugin/errors: \d (?P<name>\S{1,253}) [A-Z]{1,5}: (?:read|dial) (?:udp|tcp) [^\n]{0,120}"
    r"(?:i/o timeout|connection refused|no route to host|network is unreachable)"
)
_LONGEST = 64_000
_BY_NAME = (How.NO_NAME, How.DNS_SILENT)
_PATH = ("data", "Corefile")
_SAID = Saying(
    CauseClass.DNS_MISCONFIGURED,
    re.compile(
        r"plugin/loop: Loop \(\S{1,80} -> \S{1,80}\) detected for zone[^\n]{0,200}"
        r"|Corefile:\d{1,6} - Error during parsing[^\n]{0,200}"
    ),
    0.95,
    "The name servers of the cluster cannot work as they are configured: {said}",
)


class ClusterDns:
    """The Corefile answers some names of the cluster with an error, or sends all in a circle."""

    name = "cluster_dns"
    needs = (
        "The ConfigMap of the cluster's name servers, their logs, and calls that failed because "
        "of a name."
    )
    proof = (
        "The Corefile answers names with an error, cannot be read or makes a loop, or the "
        "servers that it forwards to do not answer."
    )
    against = "No call that failed because of a name, which makes it less sure."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such map; only a commit tells what it should say."""
        maps = [one for one in known(case, "ConfigMap") if one.ref.name in _MAPS]
        found = tuple(f for one in maps if (f := _finding(case, one)) is not None)
        return found or findings(case, _SAID) or tuple(_forwarding(case))


def _forwarding(case: Case) -> Iterator[Finding]:
    """The servers that they ask themselves do not answer, as they say in their own log."""
    logs = [(one.id, _SILENT.search(one.data.text[:_LONGEST])) for one in case.texts("logs")]
    said = [(id_, match) for id_, match in logs if match]
    if not said:
        return
    failed = [call for call in failed_calls(case) if call.how in _BY_NAME]
    ids = (*(id_ for id_, _ in said), *(call.line.id for call in failed[:3]))
    yield Finding(
        cause=CauseClass.DNS_MISCONFIGURED,
        object=ObjectRef(kind="ConfigMap", namespace="kube-system", name="coredns"),
        confidence=0.9 if failed else 0.72,
        summary="The cluster's name servers forward names to servers that do not answer:"
        f" {' '.join(said[0][1][0].split())[:160]}.",
        evidence=tuple(dict.fromkeys(ids)),
        because="Which servers they should ask stands nowhere that was seen.",
    )


def _finding(case: Case, one: Known) -> Finding | None:
    text = str(one.manifest.dig(*_PATH) or "")[:20_000]
    wrong = [m for m in _REFUSES.finditer(text) if _RCODE.search(m["block"] or m[0])]
    failed = [call for call in failed_calls(case) if call.how in _BY_NAME]
    if not wrong:
        return None
    ref: ObjectRef = one.ref
    undone = case.last_change(ref, _PATH, text)
    before = undone.field.before if undone else None
    change = FieldChange(object=ref, path=_PATH, old=text, new=before) if before else None
    rule = " ".join(wrong[0][0].split())[:120]
    return Finding(
        cause=CauseClass.DNS_MISCONFIGURED,
        object=ref,
        confidence=0.95 if failed else 0.8,
        summary=f"{ref} makes the cluster's name servers refuse names: {rule}.",
        evidence=tuple(dict.fromkeys((*one.ids, *(call.line.id for call in failed[:3])))),
        change=change,
        because=f"{undone.told} changed it; this undoes that."
        if undone
        else "What the file should say stands nowhere that was seen.",
    )
