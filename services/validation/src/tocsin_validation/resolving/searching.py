"""Look through repositories for the one place of a change: what the files say decides."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tocsin_contracts import Alert, Edit, EndReason, FieldChange, Finding, Place, Target
from tocsin_gitops import editing, images
from tocsin_gitops.config import Repository
from tocsin_gitops.locate import Located, NotLocated, Reason, locate
from tocsin_validation import drafting
from tocsin_validation.resolving.answers import Found, Trace, Unresolved
from tocsin_validation.resolving.checkouts import Checkouts, Pinned
from tocsin_validation.resolving.ties import Breaker

PROPOSABLE = frozenset({Reason.AMBIGUOUS, Reason.SHARED, Reason.UNPARSEABLE, Reason.UNEDITABLE})
"""The object is there, but no edit is provably safe: say so in a proposal file."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The one place of a change, at a pinned commit; `finding` is about what is declared there."""

    target: Target
    base_sha: str
    edits: tuple[Edit, ...]
    finding: Finding


@dataclass(frozen=True, slots=True)
class Wanted:
    """What should change, and how its place was looked for until now."""

    alert: Alert
    finding: Finding
    trace: tuple[str, ...]
    breaker: Breaker = field(default_factory=Breaker)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What one repository says."""

    pinned: Pinned
    place: Place | None
    found: tuple[Located, ...] | NotLocated

    @property
    def repository(self) -> Repository:
        return self.pinned.repository


async def search(
    candidates: Sequence[Found], wanted: Wanted, checkouts: Checkouts
) -> Resolved | Unresolved:
    """Return the place of the changes in one of the candidates, or why there is none."""
    answers = [await _ask(one, wanted.finding.changes, checkouts) for one in candidates]
    return await _chosen(answers, wanted)


async def _ask(candidate: Found, changes: Sequence[FieldChange], checkouts: Checkouts) -> _Answer:
    pinned, place = await checkouts.at(candidate.repository), candidate.place
    if place is not None and (why := _out_of_reach(place, changes)):
        return _Answer(pinned, place, NotLocated(Reason.UNEDITABLE, why, ()))
    found = await asyncio.to_thread(_located, pinned.contents, changes, place)
    return _Answer(pinned, place, found)


def _out_of_reach(place: Place, changes: Sequence[FieldChange]) -> str:
    """Say why no manifest of the place can hold the fields; empty if one may."""
    won = (over for over in place.overrides for one in changes if _wins(over, one))
    over = next(won, "")
    return f"{place.by} sets its own {over}, which wins over the files" if over else ""


def _wins(override: str, change: FieldChange) -> bool:
    what, _, name = override.partition(" ")
    match what:
        case "image":
            image = change.path[-1:] == ("image",)
            return image and images.parse(str(change.before)).name == images.parse(name).name
        case "replicas":
            return change.path == ("spec", "replicas") and change.object.name.endswith(name)
        case "patch":
            kind, _, named = name.partition("/")
            return kind in ("*", change.object.kind) and named in ("*", change.object.name)
    return False


def _located(
    files: Mapping[str, bytes], changes: Sequence[FieldChange], place: Place | None
) -> tuple[Located, ...] | NotLocated:
    """Locate each change in what the ones before it leave; the first without a place decides."""
    places: list[Located] = []
    for change in changes:
        found = locate(files, change, place)
        if isinstance(found, NotLocated):
            return found
        places.append(found)
        if not _is_ready(found):
            continue
        files = {**files, **editing.apply(files, (found.edit,))}
    return tuple(places)


def _is_ready(found: Located) -> bool:
    return found.agrees and not found.done


async def _chosen(answers: Sequence[_Answer], wanted: Wanted) -> Resolved | Unresolved:
    sure = [(one, one.found) for one in answers if not isinstance(one.found, NotLocated)]
    doubtful = [(one, one.found) for one in answers if isinstance(one.found, NotLocated)]
    if len(sure) == 1:
        return _in_place(*sure[0], wanted)
    if len(sure) > 1:
        return await _tied(sure, wanted)
    proposable = [(one, found) for one, found in doubtful if found.reason in PROPOSABLE]
    if len(proposable) == 1:
        return _as_proposal(*proposable[0], wanted)
    told = "; ".join(f"{one.repository.name}: {found.sentence}" for one, found in doubtful)
    trace = tuple(line for _, found in doubtful for line in found.trace)
    return Unresolved(EndReason.TARGET_UNRESOLVED, f"{told}.", (*wanted.trace, *trace))


async def _tied(
    sure: Sequence[tuple[_Answer, tuple[Located, ...]]], wanted: Wanted
) -> Resolved | Unresolved:
    object_, trace = wanted.finding.changes[0].object, Trace()
    names = [one.repository.name for one, _ in sure]
    chosen = await wanted.breaker.one_of(object_, names, trace)
    told = (*wanted.trace, *trace.lines)
    if chosen is None:
        sentence = f"{object_} may come from any of: {', '.join(names)}."
        return Unresolved(EndReason.TARGET_UNRESOLVED, sentence, told)
    return _in_place(*sure[chosen], replace(wanted, trace=told))


def _in_place(answer: _Answer, places: Sequence[Located], wanted: Wanted) -> Resolved | Unresolved:
    pairs = zip(places, wanted.finding.changes, strict=True)
    wrong = [pair for pair in pairs if not _is_ready(pair[0])]
    moved = [pair for pair in wrong if not pair[0].done]
    if moved:
        return _moved_on(answer, *moved[0], wanted)
    if len(wrong) == len(places):
        return _already(answer, *wrong[0], wanted)
    edits = tuple(place.edit for place in places if _is_ready(place))
    trace = tuple(dict.fromkeys(line for place in places for line in place.trace))
    target = _target(answer, edits[0], (*wanted.trace, *trace))
    return Resolved(target, answer.pinned.sha, edits, wanted.finding)


def _already(answer: _Answer, located: Located, change: FieldChange, wanted: Wanted) -> Unresolved:
    held = f"holds {located.old!r} in {located.file}"
    sentence = (
        f"{answer.repository.name} already {held}, while the cluster runs {change.before!r}: "
        "it has to sync."
    )
    trace = (*wanted.trace, *located.trace)
    return Unresolved(EndReason.ALREADY_FIXED, sentence, trace, fixed=True)


def _moved_on(answer: _Answer, located: Located, change: FieldChange, wanted: Wanted) -> Unresolved:
    held = f"holds {located.old!r} in {located.file}"
    cure = f"{located.new!r} would cure it" if located.new is not None else "it should not"
    sentence = (
        f"{answer.repository.name} {held}, while the cluster runs {change.before!r} and {cure}. "
        "Nothing is proposed: whether to sync or to change it is for a person to decide."
    )
    return Unresolved(EndReason.CHECKS_FAILED, sentence, (*wanted.trace, *located.trace))


def _as_proposal(answer: _Answer, found: NotLocated, wanted: Wanted) -> Resolved | Unresolved:
    edit = drafting.proposal(wanted.alert, wanted.finding, found.sentence)
    trace = (*wanted.trace, *found.trace)
    if edit.file in answer.pinned.files:
        sentence = f"{answer.repository.name} holds this proposal already, as {edit.file}."
        return Unresolved(EndReason.ALREADY_PROPOSED, sentence, trace, fixed=True)
    why = f"no edit is provably safe: {found.sentence}"
    target = _target(answer, edit, (*trace, why))
    return Resolved(target, answer.pinned.sha, (edit,), wanted.finding)


def _target(answer: _Answer, edit: Edit, trace: Sequence[str]) -> Target:
    repository = answer.repository
    return Target(
        host=repository.host,
        repo=repository.name,
        base_branch=repository.branch,
        file=edit.file,
        document=edit.document,
        trace=tuple(trace),
        place=answer.place,
    )
