"""Where in a repository a deployed object comes from, as labels or a GitOps controller tell it."""

from enum import StrEnum

from pydantic import Field

from tocsin_contracts.base import Value


class SourceKind(StrEnum):
    """What makes objects of the files of a place."""

    DIRECTORY = "directory"
    KUSTOMIZE = "kustomize"
    HELM = "helm"


class Place(Value):
    """One source of objects. Paths are from the root of the repository.

    For a chart, a change belongs into its value files; where it has none in this repository,
    nothing of it can be changed here.
    """

    host: str
    repo: str
    revision: str = Field(description="The branch that is deployed.")
    by: str = Field(description="Who says so, such as Application argocd/payments.")
    path: str = Field(
        default="",
        description="Folder of the manifests or of the chart; empty if that is not told, "
        "a dot for the root.",
    )
    kind: SourceKind | None = Field(default=None, description="None if it is not told.")
    recurse: bool = Field(default=True, description="Whether a directory's folders count.")
    include: str = Field(default="", description="Glob of the only files of a directory.")
    exclude: str = Field(default="", description="Glob of the files that a directory leaves out.")
    chart: str = Field(default="", description="Chart of another place, if it is not at `path`.")
    release: str = Field(default="", description="Helm's name for what is deployed.")
    value_files: tuple[str, ...] = Field(
        default=(), description="Beside the chart's own values.yaml; a later one wins."
    )
    overrides: tuple[str, ...] = Field(
        default=(), description="What the controller's own object sets, and so wins over files."
    )
    shared_with: tuple[str, ...] = Field(
        default=(), description="Whatever else is deployed from the same files."
    )
    chart_shared_with: tuple[str, ...] = Field(
        default=(), description="Whatever else is deployed from the same chart."
    )
