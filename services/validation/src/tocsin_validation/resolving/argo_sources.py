"""What an Application of Argo CD deploys from: one source or several, in the words of its fields.

A source that only lends its files to others by `ref` deploys nothing itself.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import SourceKind
from tocsin_gitops import images
from tocsin_gitops.placing import ROOT
from tocsin_kit.untrusted import line
from tocsin_validation.resolving.origins import At, Origin, path_in
from tocsin_validation.resolving.revisions import Revision, Says

Fields = Mapping[str, Any]
_KINDS = {
    "Directory": SourceKind.DIRECTORY,
    "Kustomize": SourceKind.KUSTOMIZE,
    "Helm": SourceKind.HELM,
}


def called(app: Manifest) -> str:
    """Return how people call an Application."""
    return f"Application {app.ref.namespace}/{app.ref.name}"


def sources(app: Manifest) -> tuple[Origin, ...]:
    """Return the sources that deploy something."""
    dry = app.dig("spec", "sourceHydrator", "drySource")
    if isinstance(dry, Mapping):
        return (_origin(app, dry, "", {}),)
    several = app.items("spec", "sources")
    if not several:
        one = app.dig("spec", "source")
        told = _text(app.raw, "status", "sourceType")
        return (_origin(app, one, told, {}),) if isinstance(one, Mapping) else ()
    refs = {_text(one, "ref"): one for one in several if _text(one, "ref")}
    types = app.dig("status", "sourceTypes")
    kinds = [str(one) for one in types] if isinstance(types, list) else []
    kinds += [""] * (len(several) - len(kinds))
    return tuple(
        _origin(app, one, told, refs)
        for one, told in zip(several, kinds, strict=False)
        if not _only_lends(one)
    )


def _only_lends(source: Fields) -> bool:
    return bool(_text(source, "ref")) and not _text(source, "path") and not _text(source, "chart")


def _origin(app: Manifest, source: Fields, told: str, refs: Mapping[str, Fields]) -> Origin:
    by, chart = called(app), _text(source, "chart")
    git = None if chart else _at(source, _text(source, "path"))
    kind = _KINDS.get(told) or _stated(source, chart)
    files = list(_value_files(source, git, refs))
    return Origin(
        by=by,
        git=git,
        kind=kind,
        chart=f"the chart {line(chart)} of {line(_text(source, 'repoURL'))}" if chart else "",
        release=_text(source, "helm", "releaseName") or app.ref.name,
        value_files=tuple(one for one in files if isinstance(one, At)),
        overrides=tuple(dict.fromkeys((*_kustomized(source), *_helmed(source)))),
        recurse=dig(source, "directory", "recurse") is True,
        include=_text(source, "directory", "include"),
        exclude=_text(source, "directory", "exclude"),
        unfollowed=_unfollowed(source, told, git, files),
    )


def _stated(source: Fields, chart: str) -> SourceKind | None:
    if chart or _filled(source, "helm"):
        return SourceKind.HELM
    if _filled(source, "kustomize"):
        return SourceKind.KUSTOMIZE
    return SourceKind.DIRECTORY if _filled(source, "directory") else None


def _unfollowed(source: Fields, told: str, git: At | None, files: list[At | str]) -> str:
    if told == "Plugin" or isinstance(source.get("plugin"), Mapping):
        return "through a plugin, and nobody can tell here what that makes of the files"
    if git is not None and not git.path:
        return f"its path {line(_text(source, 'path'))!r} leads out of the repository"
    lost = next((one for one in files if isinstance(one, str)), "")
    return f"the values of {line(lost)!r} cannot be followed" if lost else ""


def _at(source: Fields, path: str) -> At:
    inside = path_in("", path.strip().lstrip("/") or ROOT)
    revision = Revision(_text(source, "targetRevision"), Says.ANY)
    return At(_text(source, "repoURL"), revision, inside or "")


def _value_files(source: Fields, git: At | None, refs: Mapping[str, Fields]) -> Iterator[At | str]:
    """Yield where each file of values is; of one that cannot be followed only its name."""
    named = dig(source, "helm", "valueFiles")
    for name in map(str, named) if isinstance(named, list) else ():
        if name.startswith("$"):
            ref, _, path = name[1:].partition("/")
            lender, inside = refs.get(ref), path_in("", path)
            yield _at(lender, inside) if lender is not None and inside else name
        elif "://" in name or git is None or any(sign in name for sign in "*$"):
            yield name
        else:
            inside = path_in(git.path, name)
            yield At(git.url, git.revision, inside) if inside else name


def _kustomized(source: Fields) -> Iterator[str]:
    """Yield what the Application sets itself, whatever the kustomization says."""
    made = dig(source, "kustomize")
    if not isinstance(made, Mapping):
        return
    for image in _list(made, "images"):
        yield from (f"image {line(images.parse(one).name)}" for one in str(image).split("="))
    for one in _list(made, "replicas"):
        yield f"replicas {line(_text(one, 'name'))}"
    for one in _list(made, "patches"):
        target = dig(one, "target") or {}
        yield patched(_text(target, "kind"), _text(target, "name"))
    for key in ("namePrefix", "nameSuffix", "components"):
        if made.get(key):
            yield key


def patched(kind: str, name: str) -> str:
    """Say which objects a patch of a controller's own may reach."""
    return f"patch {line(kind) or '*'}/{line(name) or '*'}"


def _helmed(source: Fields) -> Iterator[str]:
    for key in ("parameters", "fileParameters"):
        for one in _list(dig(source, "helm") or {}, key):
            yield f"value {line(_text(one, 'name'))}"
    inline = dig(source, "helm", "valuesObject") or dig(source, "helm", "values")
    for name in keys(inline):
        yield f"value {name}"


def keys(values: Any) -> list[str]:
    """Return the dotted names of the values that are written into a controller's object."""
    if isinstance(values, str):
        try:
            values = yaml.safe_load(values)
        except yaml.YAMLError:
            return ["*"]
    return [line(name) for name in _dotted(values, "")][:100]


def _dotted(values: Any, before: str) -> Iterator[str]:
    if not isinstance(values, Mapping):
        return
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _dotted(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"


def _filled(source: Fields, key: str) -> bool:
    return bool(source.get(key)) and isinstance(source.get(key), Mapping)


def _list(fields: Any, key: str) -> list[Any]:
    found = dig(fields, key)
    return found if isinstance(found, list) else []


def _text(fields: Any, *path: str) -> str:
    found = dig(fields, *path)
    return found if isinstance(found, str) else ""
