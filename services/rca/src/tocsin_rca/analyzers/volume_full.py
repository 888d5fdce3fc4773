"""Volumes on which no space is left."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import alert_id, proof, sure
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.growing import grown
from tocsin_rca.evidence.hearing import heard, quoted, subject
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.remedy import with_remedy

_FULL = re.compile(
    r"(?i)no space left on device(?!.{0,80}inotify)|\bENOSPC\b(?!.{0,80}watch)|\[Errno 28\]"
    r"|disk quota exceeded"
    r"|flood[- ]stage (?:disk )?watermark|disk is full|no space left on disk"
    r"|there is not enough space on the disk"
    r"|(?:volume|filesystem|disk|partition) (?:is )?(?:\w{1,20} )?(?:full|out of space)\b"
    r"|out of disk space"
    r"|No usable temporary directory|MISCONF .{0,200}(?:RDB|save)|only 0(?:\.\d{1,4})?% free"
    r"|\s(?:100|99)%\s{1,4}/(?!boot|dev|etc|proc|sys|run|snap)[^\n]{1,120}"
)
_WATCHES = re.compile(r"(?i)inotify|file watchers|user watches|pull image|snapshotter|overlayfs")
_ALERTS = re.compile(
    r"(?i)PersistentVolume\w{0,20}(?:FillingUp|Full|Usage)|(?:pvc|volume)\w{0,20}(?:full|almost"
    r"|usage)"
)


class VolumeFull:
    """A program cannot write any more, and it writes to a claim."""

    name = "volume_full"
    needs = "Logs or endings, the alert, and the claim that the workload mounts."
    proof = "A program says that no space is left, or the alert says that the claim fills up."
    against = (
        "Used-up file watches, or an image that lacks space when it is pulled; no claim is known."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; the claim grows if its class is known to allow that."""
        claim = _claim(case)
        told = tuple(one for one in heard(case, _FULL) if not _WATCHES.search(quoted(one)))
        alerted = bool(_ALERTS.search(case.alert.title)) and claim is not None
        if not told and not alerted:
            return ()
        about = told[0].about if told else None
        target = claim.data.ref if claim else subject(case, about)
        words = quoted(told[0]) if told else case.alert.summary or case.alert.title
        confidence = 0.94 if claim else 0.72
        finding = Finding(
            cause=CauseClass.PVC_FULL,
            object=target,
            confidence=sure(case, about, confidence if told else 0.9),
            summary=f"No space is left for {subject(case, about)}: {words}",
            evidence=proof(case, *(one.id for one in told)) if told else alert_id(case),
        )
        name = case.alert.labels.get("persistentvolumeclaim", "")
        return (with_remedy(finding, grown(case, claim, name) if claim else None),)


def _claim(case: Case) -> Observation[Manifest] | None:
    """Return the claim that the alert names, or the only one that the workload mounts."""
    named = case.alert.labels.get("persistentvolumeclaim")
    names = {named} if named else set(_mounted(case))
    claims = [one for one in case.manifests("PersistentVolumeClaim") if one.data.ref.name in names]
    if not claims and names:
        return design(case)
    return claims[0] if claims else None


def _mounted(case: Case) -> Iterator[str]:
    for seen in (design(case), *case.pods):
        spec = seen.data.template.get("spec") if seen else None
        volumes = spec.get("volumes") if isinstance(spec, dict) else None
        for volume in volumes or ():
            name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if name:
                yield str(name)
        if seen and seen.data.items("spec", "volumeClaimTemplates"):
            yield str(seen.data.dig("spec", "volumeClaimTemplates", 0, "metadata", "name"))
