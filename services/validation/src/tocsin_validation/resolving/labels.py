"""What labels of an alert say about the source: they choose among what is allowed, and add nothing.

Whoever sends alerts writes labels, so each of them is held against gitops.yaml.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tocsin_contracts import Place
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.remotes import Match, matches
from tocsin_kit.untrusted import line
from tocsin_validation.resolving.answers import Found, Search, Unresolved
from tocsin_validation.resolving.origins import path_in
from tocsin_validation.resolving.revisions import Revision, unwritable

ASKED = "labels of the alert"
REPO, PATH = "gitops_repo", "gitops_path"
REVISION, HOST = "gitops_revision", "gitops_host"
BY = "labels of the alert"


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What is left to ask further about, where labels do not settle it."""

    candidates: tuple[Repository, ...]


async def by_labels(search: Search) -> Found | Narrowed | Unresolved:
    """Return the repository that the labels name, fewer candidates, or why what they name is none.

    A label that names something else than what is allowed ends the search: it is never ignored.
    """
    question, trace = search.question, search.trace
    labels = {key: question.alert.labels.get(key, "") for key in (REPO, PATH, REVISION, HOST)}
    given = {key: value for key, value in labels.items() if value}
    if not given:
        trace.note(ASKED, "none of them names a source")
        return Narrowed(question.candidates)
    said = ", ".join(f"{key}={line(value)!r}" for key, value in given.items())
    left = _chosen(search, labels)
    if not left:
        wrong = labels[REPO] or labels[HOST]
        sentence = f"{line(wrong)!r}, which the alert names, is not allowed to serve"
        return search.refuse(f"{sentence} {question.object}; see gitops.yaml.")
    told = Revision(labels[REVISION])
    doubts = [(one, await unwritable(told, one, search.checkouts)) for one in left]
    left = tuple(one for one, why in doubts if not why)
    if not left:
        return search.refuse(f"The alert says that {doubts[0][1]}.")
    if labels[PATH]:
        return await _at_path(left, labels[PATH], search)
    names = ", ".join(one.name for one in left)
    trace.note(ASKED, f"{said} chooses {names} among the allowed")
    return Found(left[0]) if len(left) == 1 and labels[REPO] else Narrowed(left)


def _chosen(search: Search, labels: Mapping[str, str]) -> tuple[Repository, ...]:
    gitops = search.gitops
    tests: list[Callable[[Repository], bool]] = []
    if repo := labels[REPO]:
        tests.append(lambda one: one.name == repo or matches(gitops, one, repo) is Match.YES)
    if host := labels[HOST]:
        tests.append(lambda one: _is_on(one, host.strip().lower(), gitops))
    return tuple(one for one in search.question.candidates if all(test(one) for test in tests))


def _is_on(repository: Repository, host: str, gitops: GitOps) -> bool:
    """A local copy is on the host that one of its URLs names, and on `local`."""
    url = f"https://{host}/{repository.name}"
    is_copy = bool(repository.urls) and matches(gitops, repository, url) is Match.YES
    return repository.host.lower() == host or is_copy


async def _at_path(
    candidates: Sequence[Repository], label: str, search: Search
) -> Found | Unresolved:
    """Return the one repository that holds the path: no label leads out of it."""
    path = path_in("", label.strip().lstrip("/"))
    pinned = [await search.checkouts.at(one) for one in candidates]
    holding = [one.repository for one in pinned if path and one.has(path)]
    names = ", ".join(one.name for one in candidates)
    if len(holding) != 1 or path is None:
        many = "is in each of" if len(holding) > 1 else "is nothing in"
        return search.refuse(f"{line(label)!r}, the path that the alert names, {many}: {names}.")
    (one,) = holding
    search.trace.note(
        ASKED, f"{PATH}={line(label)!r} is in {one.name}", "nothing else is looked at"
    )
    told = Place(host=one.host, repo=one.name, revision=one.branch, by=BY, path=path)
    return Found(one, told)
