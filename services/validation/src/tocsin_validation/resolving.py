"""Which repository, file and document a change belongs to: the first sure answer, or none."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tocsin_contracts import Alert, Edit, EndReason, FieldChange, Finding, Target
from tocsin_gitops import editing
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.locate import Located, NotLocated, Reason, locate
from tocsin_kit.untrusted import line
from tocsin_validation import drafting
from tocsin_validation.ports import Source

REPO_LABEL = "gitops_repo"
PROPOSABLE = frozenset({Reason.AMBIGUOUS, Reason.SHARED, Reason.UNPARSEABLE, Reason.UNEDITABLE})
"""The object is there, but no edit is provably safe: say so in a proposal file."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The one place of a change, at a pinned commit."""

    target: Target
    base_sha: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Why there is no place; `fixed` when the repository needs no further change."""

    reason: EndReason
    sentence: str
    trace: tuple[str, ...] = ()
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one repository says."""

    repository: Repository
    sha: str
    files: Collection[str]
    found: tuple[Located, ...] | NotLocated


class Resolver:
    """Asks the repositories that the operator allows, and no other."""

    def __init__(self, gitops: GitOps, source: Source) -> None:
        self._gitops = gitops
        self._source = source

    async def resolve(self, alert: Alert, finding: Finding) -> Resolved | Unresolved:
        """Return the place of the finding's changes, or why there is none.

        All of them belong to one repository; where one has no place, none is made.
        """
        change = finding.change
        if change is None:
            return Unresolved(EndReason.CAUSE_UNKNOWN, f"{finding.summary} No field would cure it.")
        repositories = self._candidates(alert, change)
        if isinstance(repositories, Unresolved):
            return repositories
        answers = [await self._ask(repository, finding.changes) for repository in repositories]
        return _chosen(answers, alert, finding, change)

    def _candidates(self, alert: Alert, change: FieldChange) -> Sequence[Repository] | Unresolved:
        """A label of the alert may choose among the allowed repositories, never add one."""
        cluster = alert.workload.cluster if alert.workload else ""
        serving = self._gitops.serving(cluster, change.object.namespace)
        wanted = alert.labels.get(REPO_LABEL)
        chosen = [one for one in serving if wanted in (None, one.name)]
        if chosen:
            return chosen
        named = "No configured repository is allowed"
        if wanted:
            named = f"{line(wanted)!r}, which the alert names, is not allowed"
        sentence = f"{named} to serve {change.object}; see gitops.yaml."
        return Unresolved(EndReason.TARGET_UNRESOLVED, sentence)

    async def _ask(self, repository: Repository, changes: Sequence[FieldChange]) -> _Answer:
        sha = await self._source.head(repository)
        files = await self._source.files(repository, sha)
        contents = {
            path: file.data for path, file in files.items() if path.endswith((".yaml", ".yml"))
        }
        found = await asyncio.to_thread(_located, contents, changes)
        return _Answer(repository, sha, files.keys(), found)


def _located(
    files: Mapping[str, bytes], changes: Sequence[FieldChange]
) -> tuple[Located, ...] | NotLocated:
    """Locate each change in what the ones before it leave; the first without a place decides."""
    places: list[Located] = []
    for change in changes:
        found = locate(files, change)
        if isinstance(found, NotLocated):
            return found
        places.append(found)
        if not _is_ready(found):
            continue
        files = {**files, **editing.apply(files, (found.edit,))}
    return tuple(places)


def _is_ready(found: Located) -> bool:
    return found.agrees and not found.done


def _chosen(
    answers: Sequence[_Answer], alert: Alert, finding: Finding, change: FieldChange
) -> Resolved | Unresolved:
    sure = [(one, one.found) for one in answers if not isinstance(one.found, NotLocated)]
    doubtful = [(one, one.found) for one in answers if isinstance(one.found, NotLocated)]
    if len(sure) == 1:
        return _in_place(*sure[0], finding.changes)
    if len(sure) > 1:
        names = ", ".join(one.repository.name for one, _ in sure)
        return Unresolved(
            EndReason.TARGET_UNRESOLVED, f"{change.object} may come from any of: {names}."
        )
    proposable = [(one, found) for one, found in doubtful if found.reason in PROPOSABLE]
    if len(proposable) == 1:
        return _as_proposal(*proposable[0], alert, finding)
    told = "; ".join(f"{one.repository.name}: {found.sentence}" for one, found in doubtful)
    trace = tuple(line for _, found in doubtful for line in found.trace)
    return Unresolved(EndReason.TARGET_UNRESOLVED, f"{told}.", trace)


def _in_place(
    answer: _Answer, places: Sequence[Located], changes: Sequence[FieldChange]
) -> Resolved | Unresolved:
    wrong = [pair for pair in zip(places, changes, strict=True) if not _is_ready(pair[0])]
    moved = [pair for pair in wrong if not pair[0].done]
    if moved:
        return _moved_on(answer, *moved[0])
    if len(wrong) == len(places):
        return _already(answer, *wrong[0])
    edits = tuple(place.edit for place in places if _is_ready(place))
    trace = tuple(dict.fromkeys(line for place in places for line in place.trace))
    return Resolved(_target(answer, edits[0], trace), answer.sha, edits)


def _already(answer: _Answer, located: Located, change: FieldChange) -> Unresolved:
    held = f"holds {located.old!r} in {located.file}"
    sentence = (
        f"{answer.repository.name} already {held}, while the cluster runs {change.before!r}: "
        "it has to sync."
    )
    return Unresolved(EndReason.ALREADY_FIXED, sentence, located.trace, fixed=True)


def _moved_on(answer: _Answer, located: Located, change: FieldChange) -> Unresolved:
    held = f"holds {located.old!r} in {located.file}"
    cure = f"{located.new!r} would cure it" if located.new is not None else "it should not"
    sentence = (
        f"{answer.repository.name} {held}, while the cluster runs {change.before!r} and {cure}. "
        "Nothing is proposed: whether to sync or to change it is for a person to decide."
    )
    return Unresolved(EndReason.CHECKS_FAILED, sentence, located.trace)


def _as_proposal(
    answer: _Answer, found: NotLocated, alert: Alert, finding: Finding
) -> Resolved | Unresolved:
    edit = drafting.proposal(alert, finding, found.sentence)
    if edit.file in answer.files:
        sentence = f"{answer.repository.name} holds this proposal already, as {edit.file}."
        return Unresolved(EndReason.ALREADY_PROPOSED, sentence, found.trace, fixed=True)
    trace = (*found.trace, f"no edit is provably safe: {found.sentence}")
    return Resolved(_target(answer, edit, trace), answer.sha, (edit,))


def _target(answer: _Answer, edit: Edit, trace: Sequence[str]) -> Target:
    repository = answer.repository
    return Target(
        host=repository.host,
        repo=repository.name,
        base_branch=repository.branch,
        file=edit.file,
        document=edit.document,
        trace=tuple(trace),
    )
