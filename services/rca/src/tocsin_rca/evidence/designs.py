"""A workload with its containers: as the cluster shows it, or else as a file declares it."""

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import Observation


def design(case: Case, ref: ObjectRef | None = None) -> Observation[Manifest] | None:
    """Return an object, the workload if none is named, in the form that shows its containers."""
    wanted = ref or case.workload
    if wanted is None:
        return None
    shown = case.manifest(wanted)
    if shown and shown.data.containers():
        return shown
    declared = case.declaration(wanted)
    return Observation(declared.evidence, declared.data.manifest) if declared else shown
