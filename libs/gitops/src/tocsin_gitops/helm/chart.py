"""A chart as its files tell it, and the objects it makes with the values of a release."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tocsin_contracts import FieldPath
from tocsin_gitops.helm import syntax
from tocsin_gitops.helm.evaluating import Evaluation
from tocsin_gitops.helm.made import Made, objects
from tocsin_gitops.helm.marked import Hidden, Ledger, Val, refuse_marks
from tocsin_gitops.helm.plain import mapping
from tocsin_gitops.helm.syntax import Block, Part
from tocsin_gitops.manifests import is_read, is_yaml
from tocsin_gitops.yaml_nodes import EditRefused

_USES = re.compile(r"\bValues((?:\.\w+)*)")
_CALLS = re.compile(r"\b(?:include|template)\s+(\"[^\"]*\"|`[^`]*`|\S)")
_ANYTHING = re.compile(r"\b(?:tpl|merge|mergeOverwrite)\b")


@dataclass(frozen=True, slots=True)
class Release:
    """What Helm calls a deployment of a chart, and where it goes."""

    name: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """What a chart makes: `unread` says why a template cannot be followed.

    `skipped` are the values that left a block of a template out by being nothing.
    """

    made: tuple[Made, ...]
    unread: Mapping[str, str]
    skipped: Mapping[str, tuple[FieldPath, ...]]


@dataclass(frozen=True)
class Chart:
    """The files of a chart by their paths in the repository; dependencies are not looked into."""

    folder: str
    files: Mapping[str, bytes]
    _parsed: dict[str, list[Part]] = field(default_factory=dict)

    @cached_property
    def about(self) -> dict[str, Any]:
        """What Chart.yaml says; EditRefused if that cannot be read."""
        return mapping(self.files.get(self.path("Chart.yaml"), b""))

    @cached_property
    def dependencies(self) -> frozenset[str]:
        """The names by which the chart's values are handed to other charts."""
        listed = self.about.get("dependencies")
        items = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        folder = self.path("charts/")
        inside = {f[len(folder) :].split("/")[0] for f in self.files if f.startswith(folder)}
        return frozenset({str(one.get("alias") or one.get("name")) for one in items} | inside)

    @cached_property
    def templates(self) -> tuple[str, ...]:
        """The paths of the templates, those that only hold helpers among them."""
        folder = self.path("templates/")
        wanted = (f for f in self.files if f.startswith(folder) and is_read(f))
        return tuple(sorted(wanted))

    def path(self, inside: str) -> str:
        """Return the path of a file of the chart in the repository."""
        return posixpath.normpath(posixpath.join(self.folder, inside)) + "/" * inside.endswith("/")

    def render(self, values: dict[str, Any], release: Release) -> Rendering:
        """Return what the chart makes with these values, all of it that can be followed."""
        made, unread, skipped = list[Made](), dict[str, str](), dict[str, tuple[FieldPath, ...]]()
        for file in self.templates:
            if posixpath.basename(file).startswith("_") or not is_yaml(file):
                continue
            ledger = Ledger()
            evaluation = Evaluation(self._helpers, ledger)
            try:
                text = evaluation.text(self._parts(file), self._root(file, values, release))
                made += objects(file, text, ledger)
            except EditRefused as refused:
                unread[file] = str(refused)
            except RecursionError:
                unread[file] = "it nests too deep to follow"
            skipped[file] = tuple(evaluation.skipped)
        return Rendering(tuple(made), unread, skipped)

    def may_use(self, file: str, path: FieldPath) -> bool:
        """Whether a template that cannot be followed may look at a value, by its words alone."""
        texts = [self._text(file)]
        for called in self._called(file):
            if called is None:
                return True
            texts.append(called)
        return any(_may_reach(text, path) for text in texts)

    @cached_property
    def _helpers(self) -> dict[str, Sequence[Part] | None]:
        """Every helper of the chart; one that is there twice is not followed."""
        found: dict[str, Sequence[Part] | None] = {}
        for file in self.templates:
            try:
                parts = self._parts(file)
            except EditRefused:
                continue
            for block in parts:
                words = block.branches[0].words if isinstance(block, Block) else ()
                if isinstance(block, Block) and block.verb == "define" and words:
                    name = block.branches[0].words[0].text[1:-1]
                    found[name] = None if name in found else block.branches[0].body
            found.setdefault(self._named(file), parts)
        return found

    @property
    def _name(self) -> str:
        return str(self.about.get("name") or posixpath.basename(self.folder))

    def _named(self, file: str) -> str:
        """Return what Helm calls a template."""
        return f"{self._name}/{posixpath.relpath(file, self.folder)}"

    def _root(self, file: str, values: dict[str, Any], release: Release) -> Val:
        hidden = {key: Hidden(key) for key in ("Capabilities", "Files", "Subcharts")}
        about = {key[:1].upper() + key[1:]: value for key, value in self.about.items()}
        return Val(
            {
                "Values": Val(values, ()),
                "Release": {
                    "Name": release.name,
                    "Namespace": release.namespace,
                    "Service": "Helm",
                    **{key: Hidden(key) for key in ("Revision", "IsInstall", "IsUpgrade")},
                },
                "Chart": {"AppVersion": None, **about},
                "Template": {"Name": self._named(file), "BasePath": f"{self._name}/templates"},
                **hidden,
            }
        )

    def _parts(self, file: str) -> list[Part]:
        if file not in self._parsed:
            refuse_marks(self._text(file))
            self._parsed[file] = syntax.read(self._text(file))
        return self._parsed[file]

    def _text(self, file: str) -> str:
        return self.files[file].decode(errors="replace").replace("\r\n", "\n")

    def _called(self, file: str) -> Iterator[str | None]:
        """Yield the texts of the helper files that a template may use; None for what is unknown."""
        if any(not word.startswith(('"', "`")) for word in _CALLS.findall(self._text(file))):
            yield None
        yield from (self._text(one) for one in self.templates if one.endswith(".tpl"))


def _may_reach(text: str, path: FieldPath) -> bool:
    """Whether a text names the value, or what is around or in it, or all values at once."""
    steps = [str(step) for step in path]
    names = [found[1:].split(".") if found else [] for found in _USES.findall(text)]
    return bool(_ANYTHING.search(text)) or any(
        all(a == b for a, b in zip(steps, name, strict=False)) for name in names
    )
