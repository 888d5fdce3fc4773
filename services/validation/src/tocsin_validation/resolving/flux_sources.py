"""What Kustomizations and HelmReleases of Flux deploy from, in the words of their fields."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tocsin_cluster.manifest import Manifest, dig, texts
from tocsin_contracts import ObjectRef, SourceKind
from tocsin_gitops.placing import ROOT
from tocsin_kit.untrusted import line
from tocsin_validation.resolving.argo_sources import keys, patched
from tocsin_validation.resolving.origins import At, Origin, path_in
from tocsin_validation.resolving.revisions import Revision, Says

Fields = Mapping[str, Any]
_SOURCE = "org.opencontainers.image.source"
_REVISION = "org.opencontainers.image.revision"


@dataclass(frozen=True, slots=True)
class Chart:
    """The chart of a HelmRelease: its name or path, and the object that it comes from."""

    name: str
    source: ObjectRef
    values_files: tuple[str, ...] = ()


def called(one: Manifest) -> str:
    """Return how people call an object of Flux."""
    return f"{one.ref.kind} {one.ref.namespace}/{one.ref.name}"


def reference(of: Manifest, fields: Any) -> ObjectRef:
    """Return what a reference names; where it names no namespace, that of the object."""
    kind, name = _text(fields, "kind"), _text(fields, "name")
    space = _text(fields, "namespace") or of.ref.namespace
    return ObjectRef(kind=kind, namespace=space, name=name)


def revision(repository: Manifest) -> Revision:
    """Return what a GitRepository follows: a commit wins, then a name, a range, a tag, a branch."""
    ref = repository.dig("spec", "ref") or {}
    if commit := _text(ref, "commit"):
        return Revision(commit, Says.COMMIT)
    if name := _text(ref, "name"):
        usual = name.startswith(("refs/heads/", "refs/tags/"))
        return Revision(name, Says.ANY if usual else Says.REF)
    for key, says in (("semver", Says.SEMVER), ("tag", Says.TAG), ("branch", Says.BRANCH)):
        if text := _text(ref, key):
            return Revision(text, says)
    return Revision("master", Says.BRANCH)


def at(source: Manifest, path: str) -> At | str:
    """Return a path of a source in git terms, or why nobody can follow it.

    What an artifact was made of is told by its own words; where in the repository, it is not.
    """
    if source.ref.kind == "GitRepository":
        inside = path_in("", path.strip().lstrip("/") or ROOT)
        if inside is None:
            return f"its path {line(path)!r} leads out of the repository"
        return At(str(source.dig("spec", "url") or ""), revision(source), inside)
    if source.ref.kind == "OCIRepository":
        return _artifact(source)
    return f"it comes from {called(source)}, which is no repository of git"


def _artifact(source: Manifest) -> At | str:
    told = texts(source.dig("status", "artifact", "metadata"))
    if not told.get(_SOURCE):
        return f"the artifact of {called(source)} does not say which repository it was made of"
    name, _, digest = told.get(_REVISION, "").partition("@")
    if not name:
        return f"the artifact of {called(source)} does not say which branch it was made of"
    pinned = name.startswith(("sha1:", "sha256:"))
    text = name.rpartition(":")[2] if pinned else name
    says = Says.COMMIT if pinned else (Says.ANY if digest else Says.TAG)
    return At(told[_SOURCE], Revision(text, says), "")


def kustomization(one: Manifest, source: Manifest) -> Origin:
    """Return what a Kustomization deploys from; without a kustomization it takes every manifest."""
    found = at(source, str(one.dig("spec", "path") or ""))
    lost = found if isinstance(found, str) else ""
    return Origin(
        by=called(one),
        git=found if isinstance(found, At) else None,
        overrides=tuple(dict.fromkeys(_kustomized(one.dig("spec")))),
        unfollowed=lost,
    )


def chart(release: Manifest, helm_chart: Manifest | None = None) -> Chart | None:
    """Return the chart of a HelmRelease, or of the HelmChart that it names; None for neither."""
    of, fields = release, release.dig("spec", "chart", "spec")
    if helm_chart is not None:
        of, fields = helm_chart, helm_chart.dig("spec")
    if isinstance(fields, Mapping):
        named = fields.get("valuesFiles")
        files = tuple(map(str, named)) if isinstance(named, list) else ()
        return Chart(_text(fields, "chart"), reference(of, fields.get("sourceRef")), files)
    named_by = release.dig("spec", "chartRef")
    return Chart("", reference(release, named_by)) if isinstance(named_by, Mapping) else None


def helm_release(release: Manifest, known: Chart, source: Manifest | None) -> Origin:
    """Return what a HelmRelease deploys from; only a chart in git can be changed there."""
    found = at(source, known.name) if source and source.ref.kind == "GitRepository" else None
    git = found if isinstance(found, At) else None
    named = [(name, path_in("", name)) for name in known.values_files] if git else []
    lost = found if isinstance(found, str) else ""
    lost = next((f"{line(name)!r} leads out of it" for name, path in named if not path), lost)
    space = str(release.dig("spec", "targetNamespace") or "")
    usual = f"{space}-{release.ref.name}" if space else release.ref.name
    return Origin(
        by=called(release),
        git=git,
        kind=SourceKind.HELM,
        chart="" if git else f"the chart {line(known.name)} of {known.source}",
        release=str(release.dig("spec", "releaseName") or usual),
        value_files=tuple(At(git.url, git.revision, p) for _, p in named if git and p),
        overrides=tuple(dict.fromkeys(_valued(release))),
        unfollowed=lost,
    )


def _kustomized(spec: Any) -> Iterator[str]:
    for one in _list(spec, "images"):
        names = (_text(one, "name"), _text(one, "newName"))
        yield from (f"image {line(name)}" for name in names if name)
    for one in _list(spec, "patches"):
        yield patched(_text(one, "target", "kind"), _text(one, "target", "name"))
    for key in ("namePrefix", "nameSuffix", "components"):
        if dig(spec, key):
            yield key


def _valued(release: Manifest) -> Iterator[str]:
    for name in keys(release.dig("spec", "values")):
        yield f"value {name}"
    for one in _list(release.raw.get("spec"), "valuesFrom"):
        target = _text(one, "targetPath")
        yield f"value {line(target) or '*'} of {_text(one, 'kind')} {line(_text(one, 'name'))}"
    for one in _list(release.raw.get("spec"), "postRenderers"):
        yield from _kustomized(dig(one, "kustomize"))


def _list(fields: Any, key: str) -> list[Any]:
    found = dig(fields, key)
    return found if isinstance(found, list) else []


def _text(fields: Any, *path: str) -> str:
    found = dig(fields, *path)
    return found if isinstance(found, str) else ""
