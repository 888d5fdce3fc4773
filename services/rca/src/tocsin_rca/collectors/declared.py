"""What the files of the repositories declare near the workload."""

from tocsin_contracts import Alert, EvidenceKind
from tocsin_rca.collectors.excerpts import excerpt
from tocsin_rca.collectors.inquiry import FAILURES, Inquiry, Observations, reason
from tocsin_rca.collectors.target import Target, cluster_of, names_of, namespace_of
from tocsin_rca.ports import Declared

MOST = 60


async def look(alert: Alert, inquiry: Inquiry) -> tuple[tuple[Declared, ...], Observations]:
    """Return what files declare where an alert points, and why that could not be seen."""
    namespace, names = namespace_of(alert), names_of(alert)
    try:
        found = await inquiry.history.declared(
            namespace, names, cluster=cluster_of(alert), limit=MOST
        )
    except FAILURES as error:
        query = f"manifests in {namespace or 'any namespace'}"
        return (), (inquiry.missing(inquiry.history.source, query, reason(error)),)
    return found, ()


async def collect(target: Target, inquiry: Inquiry) -> Observations:
    """Return each object with the file that declares it."""
    return tuple(
        inquiry.saw(
            EvidenceKind.MANIFEST,
            f"{one.manifest.ref} in {one.file} of {one.repository} at {one.commit[:10]}",
            excerpt(one.manifest),
            one,
            source=inquiry.history.source,
            ref=f"{one.repository}:{one.file}@{one.commit}",
        )
        for one in target.declared
    )
