"""Workloads that the cluster runs otherwise than the repository declares them."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, Finding, ObjectRef, Scalar
from tocsin_gitops.yaml_paths import path_text
from tocsin_rca.evidence.alerted import alert_text
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.fields import Difference, changed_scalars
from tocsin_rca.evidence.known import known

_SAID = re.compile(r"(?i)drift|out ?of ?sync|manual(?:ly)? chang|unmanaged change")
_WATCHED = ("image", "replicas", "env", "args", "command", "resources", "ports", "selector", "path")
_SHOWN = 3


class Drift:
    """Fields that a file sets have other values in the cluster, and the alert speaks of that."""

    name = "drift"
    needs = "The workload as the cluster shows it in full, and the file that declares it."
    proof = (
        "A field that the file sets has another value in the cluster, and the alert speaks of "
        "drift."
    )
    against = (
        "An alert about something else, which leaves a mere candidate; replicas that an "
        "autoscaler sets; one value written in two ways."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; where the alert is about something else it is a candidate only."""
        target = case.workload
        shown = case.object(target) if target else None
        declared = case.declaration(target) if target else None
        if shown is None or declared is None or target is None or not shown.data.whole:
            return ()
        found = list(_differences(case, target, declared.data.manifest, shown.data))
        if not found:
            return ()
        said = "; ".join(_told(one) for one in found[:_SHOWN])
        return (
            Finding(
                cause=CauseClass.GITOPS_SYNC_FAILED,
                object=target,
                confidence=0.9 if _SAID.search(alert_text(case)) else 0.5,
                summary=f"{target} is not what {declared.data.file} declares: {said}.",
                evidence=(shown.id, declared.id),
                because="Which of the two is meant is for a person to say.",
            ),
        )


def _differences(
    case: Case, target: ObjectRef, declared: Manifest, shown: Manifest
) -> Iterator[Difference]:
    """Differences in what the file sets; what the cluster fills in by itself is none."""
    scaled = any(
        one.manifest.dig("spec", "scaleTargetRef", "name") == target.name
        for one in known(case, "HorizontalPodAutoscaler")
    )
    for path, before, after in changed_scalars(declared.dig("spec"), shown.dig("spec")):
        watched = any(step in _WATCHED for step in path) and not (scaled and "replicas" in path)
        if before is not None and watched and not _is_same(before, after):
            yield path, before, after


def _is_same(before: Scalar, after: Scalar) -> bool:
    """The API writes numbers and quantities its own way; text against number is no difference."""
    return str(before) == str(after) or (after is None and before in ("", 0, False))


def _told(difference: Difference) -> str:
    path, before, after = difference
    return f"{path_text(path)} is {str(after)[:60]!r} and should be {str(before)[:60]!r}"
