"""What Pod Security itself says a container has to give up, where it asks for nothing else."""

import re

from tocsin_contracts import ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.remedy import Remedy, all_of, valued

_ONLY = re.compile(
    r"violates PodSecurity \\?\"[\w.:-]{1,40}\\?\": allowPrivilegeEscalation != false"
    r" \(containers? (?P<names>[\w\\\", -]{1,400}) must set"
    r" securityContext\.allowPrivilegeEscalation=false\)[.\s]*"
)
_NAME = re.compile(r"[\w-]{1,63}")
_PATH = ("securityContext", "allowPrivilegeEscalation")


def tightened(case: Case, owner: ObjectRef, words: str) -> Remedy | None:
    """Return that containers may not gain privileges, if that is all that is asked for.

    Only of a workload whose containers were all seen; a right is never added by this.
    """
    said, seen = _ONLY.fullmatch(words), design(case, owner)
    if said is None or seen is None or seen.data.ref != owner:
        return None
    names = set(_NAME.findall(said["names"]))
    containers = {one.name: one for one in seen.data.containers() if one.name in names}
    if containers.keys() != names:
        return None
    changes = all_of(
        valued(owner, (*one.path, *_PATH), one.dig(*_PATH), False) for one in containers.values()
    )
    return Remedy(changes, "The level says so itself, and asks for nothing else.", (seen.id,))
