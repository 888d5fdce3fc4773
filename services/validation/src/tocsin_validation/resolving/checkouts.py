"""The repositories at one commit each, for as long as one question takes."""

from dataclasses import dataclass

from tocsin_gitops.config import Repository
from tocsin_gitops.manifests import folder, is_kustomization, is_read
from tocsin_gitops.placements import Checkout
from tocsin_gitops.placing import ROOT, below
from tocsin_gitops.source import BlobFile
from tocsin_validation.ports import Source


@dataclass(frozen=True, slots=True)
class Pinned:
    """A repository at a commit."""

    repository: Repository
    sha: str
    files: dict[str, BlobFile]
    manifests: Checkout

    @property
    def contents(self) -> dict[str, bytes]:
        """The YAML files, and the helpers of charts."""
        return {path: file.data for path, file in self.files.items() if is_read(path)}

    def has(self, path: str) -> bool:
        """Whether a path is a file, or a folder with files that are read at all."""
        return any(below(file, path) for file in self.files)

    def holds(self, path: str, name: str) -> bool:
        """Whether a folder directly holds a file of that name."""
        return (name if path in ("", ROOT) else f"{path}/{name}") in self.files

    def is_kustomized(self, path: str) -> bool:
        """Whether a folder has a kustomization."""
        return any(is_kustomization(f) and folder(f) == (path or ROOT) for f in self.files)


class Checkouts:
    """Reads each repository once, so that all steps speak of the same commit."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._pinned: dict[str, Pinned] = {}

    async def at(self, repository: Repository) -> Pinned:
        """Return the repository as its branch is now."""
        known = self._pinned.get(repository.name)
        if known is None:
            sha = await self._source.head(repository)
            files = await self._source.files(repository, sha)
            contents = {path: file.data for path, file in files.items()}
            known = Pinned(repository, sha, files, Checkout(contents))
            self._pinned[repository.name] = known
        return known

    async def branch(self, repository: Repository, name: str) -> bool:
        """Whether the repository has a branch of that name."""
        return await self._source.branch(repository, name) is not None
