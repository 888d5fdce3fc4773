"""Errors that begin with the rollout of another version, which a commit or the cluster tells."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from tocsin_cluster.manifest import Container, dig
from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.alerted import Theme, tells_of
from tocsin_rca.evidence.calls import failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.clocked import jumps
from tocsin_rca.evidence.complaints import complaints
from tocsin_rca.evidence.doubts import Doubt, explained, weighed
from tocsin_rca.evidence.images import only_version_differs
from tocsin_rca.evidence.lines import Line, quoted

_SOON = timedelta(hours=2)
_SLACK = 3
"""Minutes that may pass from a release to the first request that shows it."""

_LONGEST = 64_000
_THEMES = (Theme.ERRORS, Theme.LATENCY, Theme.CRASH)


@dataclass(frozen=True, slots=True)
class _Release:
    """What runs now and what ran before, with who says so and when it began."""

    container: Container
    before: str
    now: str
    told: str
    at: datetime | None
    ids: tuple[str, ...]
    commit: str = ""

    @property
    def undo_of(self) -> str:
        """The commit, where another image altogether makes its history the only proof."""
        return "" if only_version_differs(self.before, self.now) else self.commit


class BadRelease:
    """The version changed shortly before a program began to fail."""

    name = "bad_release"
    needs = (
        "What ran before and since when, from commits or rollouts; the alert; logs, or curves "
        "over time."
    )
    proof = (
        "A container got another version, and its program logs errors or crashes, or its curves "
        "jump just then."
    )
    against = (
        "An alert older than the release or hours later, calls to others that fail too, no error "
        "in a log, another image altogether."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for the newest version of a container that changed."""
        wrong = complaints(case)
        troubled = bool(wrong) or _crashes(case)
        if not any(tells_of(case, theme) for theme in _THEMES):
            return ()
        seen = [(release, _measured(case, release)) for release in _releases(case)]
        found = [
            _finding(case, release, wrong, curves) for release, curves in seen if troubled or curves
        ]
        return tuple(found[:1])


def _releases(case: Case) -> Iterator[_Release]:
    workload = case.workload_manifest
    for container in workload.data.containers() if workload else ():
        now = container.dig("image")
        if not isinstance(now, str) or workload is None or case.workload is None:
            continue
        change = case.last_change(case.workload, (*container.path, "image"), now)
        before = change.field.before if change else None
        same = isinstance(before, str) and (only_version_differs(before, now) or _has_run(case))
        if change and isinstance(before, str) and same:
            ids = (change.seen.id, workload.id)
            at, commit = change.seen.data.at, change.seen.data.commit
            yield _Release(container, before, now, change.told, at, ids, commit)
        else:
            yield from _rolled_out(case, container, now)


def _has_run(case: Case) -> bool:
    """Whether the program wrote something: then the image exists, whatever it is called."""
    return any(log.data.text.strip() for log in case.logs)


def _rolled_out(case: Case, container: Container, now: str) -> Iterator[_Release]:
    """The version that the cluster itself remembers from before the last rollout."""
    path = (*container.path, "image")
    for seen in case.rollouts:
        for field in seen.data.changed if seen.data.latest else ():
            before, is_it = str(field.before), (field.path, field.after) == (path, now)
            if is_it and only_version_differs(before, now):
                told = f"the rollout of revision {seen.data.revision}"
                yield _Release(container, before, now, told, seen.data.at, (seen.id,))


def _crashes(case: Case) -> bool:
    return any(
        dig(one.status, "state", "waiting", "reason") == "CrashLoopBackOff"
        for one in case.containers
    )


def _measured(case: Case, release: _Release) -> tuple[Line, ...]:
    """Curves of errors or times that jump just when it was released."""
    at = release.at
    return tuple(
        Line(seen.id, jump.line, of_log=False)
        for seen in case.checks
        for jump in jumps(seen.data.text[:_LONGEST])
        if at and jump.holds(at, _SLACK)
    )


def _finding(
    case: Case, release: _Release, logged: tuple[Line, ...], curves: tuple[Line, ...]
) -> Finding:
    wrong = (*logged, *curves)
    workload = case.workload or ObjectRef(kind="Deployment", name=release.container.name)
    doubts = tuple(_doubts(case, release, wrong))
    path = (*release.container.path, "image")
    version = release.now.rpartition(":")[2]
    said = f" ({quoted(wrong[0])})" if wrong else ""
    return Finding(
        cause=CauseClass.BAD_RELEASE,
        object=workload,
        confidence=weighed(0.93, doubts),
        summary=f"{workload} fails since {version} was released{said}.",
        evidence=tuple(dict.fromkeys((*release.ids, *(line.id for line in wrong[:3])))),
        change=FieldChange(
            object=workload,
            path=path,
            old=release.now,
            new=release.before,
            undo_of=release.undo_of,
        ),
        because=explained(f"{release.told} released it; {release.before} ran before.", doubts),
    )


def _doubts(case: Case, release: _Release, wrong: tuple[Line, ...]) -> Iterator[Doubt]:
    if not wrong:
        yield Doubt("no log says what fails", 0.3)
    if not only_version_differs(release.before, release.now):
        yield Doubt("it is another image altogether", 0.1)
    if failed_calls(case):
        yield Doubt("calls to others fail as well", 0.15)
    began = case.alert.starts_at
    if began and release.at and release.at > began:
        yield Doubt("the alert is older than the release", 0.4)
    elif began and release.at and began - release.at > _SOON:
        yield Doubt("hours of quiet lie between the release and the alert", 0.15)
    if release.at is None:
        yield Doubt("it is not known when it was released", 0.1)
