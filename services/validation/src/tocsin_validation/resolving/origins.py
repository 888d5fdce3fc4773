"""From what a controller deploys from to the place in an allowed repository, or why there is none.

Argo CD and Flux say the same in different words; here it is one.
"""

import posixpath
from dataclasses import dataclass, field

from tocsin_contracts import Place, SourceKind
from tocsin_gitops.config import Repository
from tocsin_gitops.placing import ROOT
from tocsin_gitops.remotes import Match, matches, remote
from tocsin_kit.untrusted import line
from tocsin_validation.resolving.answers import Found, Search, Unresolved
from tocsin_validation.resolving.checkouts import Pinned
from tocsin_validation.resolving.revisions import Revision, unwritable


@dataclass(frozen=True, slots=True)
class At:
    """A folder or file of a repository of git, at what is followed; an empty path is not known."""

    url: str
    revision: Revision = field(default_factory=Revision)
    path: str = ROOT

    def __str__(self) -> str:
        """Say it, without who logs in."""
        where = str(remote(self.url) or "a URL that is none of git")
        return f"{line(self.path) or 'an unknown folder'} of {line(where)} at {self.revision}"


@dataclass(frozen=True, slots=True)
class Origin:
    """One source of a controller's object.

    `git` is None for a chart of a Helm repository. `unfollowed` says why nobody can tell here
    what it makes. The kind is None where the files decide.
    """

    by: str
    git: At | None = None
    kind: SourceKind | None = None
    chart: str = ""
    release: str = ""
    value_files: tuple[At, ...] = ()
    overrides: tuple[str, ...] = ()
    recurse: bool = True
    include: str = ""
    exclude: str = ""
    shared_with: tuple[str, ...] = ()
    chart_shared_with: tuple[str, ...] = ()
    unfollowed: str = ""


def path_in(folder: str, path: str) -> str | None:
    """Return a path from the root of a repository; None for one that leads out of it.

    A path that begins with a slash begins at the root.
    """
    joined = path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path)
    normal = posixpath.normpath(joined or ROOT)
    out = normal == ".." or normal.startswith(("../", "/")) or "\0" in normal or "\\" in normal
    return None if out else normal


async def place(origin: Origin, search: Search) -> Found | Unresolved | None:
    """Return where a change belongs; None if it cannot be told which repository that is.

    Unresolved where it is sure that nothing may, or could, be written there.
    """
    if origin.unfollowed:
        return search.refuse(f"{origin.by} deploys it, but {origin.unfollowed}.")
    lead = origin.value_files[-1] if origin.value_files else origin.git
    if lead is None:
        return search.refuse(f"{origin.by} deploys it from {origin.chart}: no repository holds it.")
    chosen = _repository(lead, origin, search)
    if not isinstance(chosen, Repository):
        return chosen
    return await _placed(chosen, lead, origin, search)


async def _placed(
    chosen: Repository, lead: At, origin: Origin, search: Search
) -> Found | Unresolved:
    if why := await unwritable(lead.revision, chosen, search.checkouts):
        return search.refuse(f"{origin.by} deploys it from {chosen.name}: {why}.")
    pinned = await search.checkouts.at(chosen)
    gone = [at.path for at in (lead, origin.git) if at and _lacks(pinned, at, lead)]
    if gone:
        sentence = f"{origin.by} deploys it from {line(gone[0])!r}, which {chosen.name} has not."
        return search.refuse(sentence)
    told = _place(origin, lead, pinned)
    search.trace.note(origin.by, f"deploys {lead}", f"that is {_said(told)}")
    return Found(chosen, told)


def _repository(lead: At, origin: Origin, search: Search) -> Repository | Unresolved | None:
    gitops, question = search.gitops, search.question
    told = [(one, matches(gitops, one, lead.url)) for one in question.candidates]
    fits = [one for one, match in told if match is Match.YES]
    if len(fits) > 1:
        fits = [one for one in fits if lead.revision.text == one.branch] or fits
    if len(fits) == 1:
        return fits[0]
    if fits:
        names = ", ".join(one.name for one in fits)
        return search.refuse(f"{origin.by} deploys {lead}, and that may be any of: {names}.")
    if maybe := [one.name for one, match in told if match is Match.UNKNOWN]:
        why = f"it cannot be told whether that is {', '.join(maybe)}: `urls` in gitops.yaml can"
        search.trace.note(origin.by, f"deploys {lead}", why)
        return None
    elsewhere = any(matches(gitops, one, lead.url) is Match.YES for one in gitops.repositories)
    why = f"may not serve {question.object}" if elsewhere else "is not allowed"
    return search.refuse(f"{origin.by} deploys {lead}, which {why}; see gitops.yaml.")


def _lacks(pinned: Pinned, at: At, lead: At) -> bool:
    """A chart may lie elsewhere than its value files; only what is here is looked for."""
    here = remote(at.url) == remote(lead.url)
    return here and bool(at.path) and not pinned.has(at.path)


def _place(origin: Origin, lead: At, pinned: Pinned) -> Place:
    git = origin.git if origin.git and remote(origin.git.url) == remote(lead.url) else None
    path = git.path if git else ""
    kind = origin.kind or _kind(pinned, path)
    elsewhere = origin.chart or (str(origin.git) if origin.git and git is None else "")
    here = [at for at in origin.value_files if remote(at.url) == remote(lead.url)]
    lost = tuple(f"value * of {at}" for at in origin.value_files if at not in here)
    return Place(
        host=pinned.repository.host,
        repo=pinned.repository.name,
        revision=pinned.repository.branch,
        by=origin.by,
        path=path,
        kind=kind,
        recurse=origin.recurse,
        include=origin.include,
        exclude=origin.exclude,
        chart=elsewhere,
        release=origin.release if kind is SourceKind.HELM else "",
        value_files=tuple(at.path for at in here),
        overrides=(*origin.overrides, *lost),
        shared_with=origin.shared_with,
        chart_shared_with=origin.chart_shared_with,
    )


def _kind(pinned: Pinned, path: str) -> SourceKind | None:
    """Tell by the files, as controllers do, where nobody says it."""
    if not path:
        return None
    if pinned.holds(path, "Chart.yaml"):
        return SourceKind.HELM
    return SourceKind.KUSTOMIZE if pinned.is_kustomized(path) else SourceKind.DIRECTORY


def _said(told: Place) -> str:
    what = told.kind.value if told.kind else "a folder that is not told"
    parts = [f"{told.repo}, {what}" + (f" {told.path}" if told.path else "")]
    if told.chart:
        parts.append(f"with the chart of {told.chart}")
    if told.value_files:
        parts.append(f"with the values of {', then '.join(told.value_files)}")
    if told.shared_with:
        parts.append(f"which also feeds {', '.join(told.shared_with)}")
    return line(" ".join(parts), 400)
