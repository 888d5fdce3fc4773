"""Which files a kustomization leads to, and which images it sets; no IO."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import yaml

from tocsin_gitops.images import parse
from tocsin_gitops.manifests import is_kustomization

_LISTS = ("resources", "bases", "components", "patches", "patchesStrategicMerge")


@dataclass(frozen=True, slots=True)
class Kustomization:
    """One kustomization file: where it leads, the namespace it sets, the images it sets."""

    file: str
    namespace: str
    entries: tuple[str, ...]
    images: Mapping[str, Mapping[str, Any]]

    @property
    def folder(self) -> str:
        """The folder that this file describes; the root of the repository is a dot."""
        return posixpath.normpath(posixpath.dirname(self.file))

    def rendered(self, image: str) -> str:
        """Return the image that a container gets which asks for this one."""
        asked = parse(image)
        setting = self.images.get(asked.name)
        if setting is None:
            return image
        tag, digest = str(setting.get("newTag") or ""), str(setting.get("digest") or "")
        if tag or digest:
            asked = replace(asked, tag=tag, digest=digest)
        return str(replace(asked, name=str(setting.get("newName") or asked.name)))


@dataclass(frozen=True, slots=True)
class Layout:
    """The kustomizations of a repository, by the folder they describe."""

    by_folder: Mapping[str, Kustomization]

    def leading_to(self, file: str) -> tuple[Kustomization, ...]:
        """Return the kustomizations that use a file, directly or through another one."""
        return tuple(k for k in self.by_folder.values() if file in self._reached(k))

    def _reached(self, start: Kustomization) -> frozenset[str]:
        reached: set[str] = set()
        waiting = [start]
        while waiting:
            kustomization = waiting.pop()
            for entry in kustomization.entries:
                path = posixpath.normpath(posixpath.join(kustomization.folder, entry))
                if path not in reached and path in self.by_folder:
                    waiting.append(self.by_folder[path])
                reached.add(path)
        return frozenset(reached)


def read_layout(files: Mapping[str, bytes]) -> Layout:
    """Read every kustomization of a repository; one that cannot be read leads nowhere."""
    found = (read_kustomization(file, files[file]) for file in files if is_kustomization(file))
    return Layout({kustomization.folder: kustomization for kustomization in found})


def read_kustomization(file: str, data: bytes) -> Kustomization:
    """Read one kustomization; unreadable data make an empty one."""
    try:
        document = yaml.load(data, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError):
        document = None
    read = document if isinstance(document, Mapping) else {}
    images = {str(image.get("name")): image for image in _mappings(read.get("images"))}
    return Kustomization(file, str(read.get("namespace") or ""), tuple(_entries(read)), images)


def _entries(read: Mapping[str, Any]) -> Iterator[str]:
    for key in _LISTS:
        listed = read.get(key)
        for entry in listed if isinstance(listed, list) else ():
            path = entry.get("path") if isinstance(entry, Mapping) else entry
            if isinstance(path, str) and "\n" not in path:
                yield path


def _mappings(listed: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(listed, list):
        yield from (item for item in listed if isinstance(item, Mapping))
