"""What Tocsin works on: the repositories it may propose to, and the cluster it looks at."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

_NO_REPOSITORY = """\
# The repositories that Tocsin may propose changes to. While there is none, nothing is ever written.
#
#   - name: shop/platform-gitops
#     git_dir: /srv/git/platform-gitops.git
#     branch: main
#     paths: ["apps/**"]
repositories: []
"""


@dataclass(frozen=True, slots=True)
class World:
    """The gitops.yaml and the recorded cluster or clusters; None for what was not given."""

    gitops: Path | None = None
    snapshot: Path | None = None
    snapshots: Path | None = None

    def settled(self, folder: Path) -> Self:
        """Complete it with no repository at all, and a cluster of which nothing was recorded."""
        return type(self)(
            gitops=self.gitops or _made_file(folder / "gitops.yaml"),
            snapshot=self.snapshot or _made_folder(folder / "snapshot"),
            snapshots=self.snapshots,
        )

    def environment(self) -> dict[str, str]:
        """Return the settings that tell services; they do not share our working directory."""
        named = {
            "TOCSIN_GITOPS_FILE": self.gitops,
            "TOCSIN_CLUSTER_SNAPSHOT": self.snapshot,
            "TOCSIN_CLUSTER_SNAPSHOTS": self.snapshots,
        }
        return {name: str(path.absolute()) for name, path in named.items() if path is not None}


def _made_file(path: Path) -> Path:
    if not path.exists():
        path.write_text(_NO_REPOSITORY, encoding="utf-8")
    return path


def _made_folder(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return path
