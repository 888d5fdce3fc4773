"""Look a field up once more before it is changed: as the cluster holds it, and as it was."""

from collections.abc import Sequence

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import Alert, Evidence, EvidenceKind, FieldChange, ObjectRef, Scalar
from tocsin_gitops.yaml_paths import path_text
from tocsin_kit.errors import TocsinError
from tocsin_rca.collectors.target import cluster_of
from tocsin_rca.evidence import observe
from tocsin_rca.investigation.fields import FieldSeen, is_founded, value_at
from tocsin_rca.investigation.judging import Gathered
from tocsin_rca.ports import FieldHistory, World
from tocsin_rca.tools.arguments import readable

MOST_COMMITS = 20
MOST_FILES = 50


async def looked_up(
    change: FieldChange | None,
    alert: Alert,
    world: World,
    *,
    gathered: tuple[Evidence, ...],
    cited: Sequence[Evidence],
    id: str,
) -> Gathered:
    """Return what was gathered, with the change if it stands on what was seen.

    The look itself becomes evidence under `id`. What cannot be looked up now is not changed.
    """
    if change is None:
        return Gathered(gathered)
    try:
        seen = await _seen(change, cluster_of(alert), world)
    except TocsinError:
        return Gathered(gathered)
    if seen is None or not is_founded(change, seen, cited):
        return Gathered(gathered)
    text = f"now: {seen.value!r}\nbefore, the newest first: {', '.join(map(repr, seen.before))}"
    query = f"{change.object} {path_text(change.path)}"
    at = world.clock.now()
    look = observe(EvidenceKind.OBJECT, source="rca", query=query, at=at, text=text, data=None)
    evidence = look.evidence.model_copy(update={"id": id})
    return Gathered((*gathered, evidence), change, (id,))


async def _seen(change: FieldChange, cluster: str, world: World) -> FieldSeen | None:
    readable(change.object.kind)
    manifest = await _manifest(change.object, cluster, world)
    value = value_at(manifest.raw, change.path) if manifest else None
    if manifest is None or not isinstance(value, Scalar) or (value is None and not manifest.whole):
        return None
    history = await world.history.recent_changes(change.object, cluster=cluster, limit=MOST_COMMITS)
    before = [value for commit in history for value in _held(commit, change)]
    return FieldSeen(value, tuple(before))


async def _manifest(ref: ObjectRef, cluster: str, world: World) -> Manifest | None:
    """Return the object as the cluster holds it, or else as the one file that declares it."""
    found = await world.clusters.named(cluster).get(ref)
    if found is not None:
        return found
    files = await world.history.declared(
        ref.namespace, (ref.name,), cluster=cluster, limit=MOST_FILES
    )
    declared = [one.manifest for one in files if one.manifest.ref == ref]
    return declared[0] if len(declared) == 1 else None


def _held(commit: FieldHistory, change: FieldChange) -> list[Scalar]:
    target = change.object
    return [
        field.before
        for field in commit.fields
        if field.path == change.path
        and (field.document.kind, field.document.name) == (target.kind, target.name)
        and field.document.namespace in ("", target.namespace)
    ]
