"""Room to write for a program whose file system is read-only on purpose."""

import re

from tocsin_cluster.manifest import POD_TEMPLATE, Container, Manifest, dig
from tocsin_contracts import FieldChange, ObjectRef, Tree
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.remedy import Remedy, all_of, appended, inserted

_MEANT_FOR_THAT = re.compile(
    r"(?P<place>/tmp|/var/tmp|/run|/var/run|/var/cache/[\w-]{1,64})(?:/|$)"
)
"""Places that programs expect to be empty when they start."""


def room_to_write(case: Case, owner: ObjectRef, path: str) -> Remedy | None:
    """Return an empty volume where a program may not write; None if that could hide files."""
    file = case.declaration(owner)
    seen = Observation(file.evidence, file.data.manifest) if file else design(case, owner)
    place = _MEANT_FOR_THAT.match(path)
    if seen is None or place is None or ".." in path:
        return None
    locked = [one for one in seen.data.containers() if _is_locked(one)]
    if len(locked) != 1 or _is_mounted(locked[0], place["place"]):
        return None
    name = place["place"].strip("/").replace("/", "-").replace("_", "-").lower()
    volumes, mounts = _volumes(seen.data), locked[0].raw.get("volumeMounts")
    if any(dig(one, "name") == name for one in volumes or ()):
        return None
    mount: Tree = {"name": name, "mountPath": place["place"]}
    base = (*POD_TEMPLATE.get(owner.kind, ()), "spec", "volumes")
    changes = all_of(
        (
            _added(owner, base, volumes, {"name": name, "emptyDir": {}}),
            _added(owner, (*locked[0].path, "volumeMounts"), mounts, mount),
        )
    )
    because = f"The root stays read-only; {place['place']} becomes a volume that starts empty."
    return Remedy(changes, because, (seen.id,)) if changes else None


def _added(
    owner: ObjectRef, path: tuple[str | int, ...], held: object, new: Tree
) -> FieldChange | None:
    if held is None:
        return inserted(owner, path, [new])
    return appended(owner, path, held, new) if isinstance(held, list) else None


def _is_locked(container: Container) -> bool:
    return container.dig("securityContext", "readOnlyRootFilesystem") is True


def _is_mounted(container: Container, place: str) -> bool:
    """Whether something is mounted there, so that it is that which may not be written."""
    mounts = [str(one.get("mountPath")).rstrip("/") for one in container.items("volumeMounts")]
    return any(one == place or one.startswith(f"{place}/") for one in mounts)


def _volumes(workload: Manifest) -> list[Tree] | None:
    found = dig(workload.template, "spec", "volumes")
    return found if isinstance(found, list) else None
