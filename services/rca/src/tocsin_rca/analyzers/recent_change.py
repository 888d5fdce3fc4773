"""What a commit changed shortly before a program began to fail: a value, or how it is started."""

from collections.abc import Iterator
from datetime import timedelta

from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.alerted import Theme, tells_of
from tocsin_rca.evidence.calls import failed_calls
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.complaints import complaints
from tocsin_rca.evidence.configured import Configured, configured
from tocsin_rca.evidence.known import running
from tocsin_rca.evidence.lines import ids_of, quoted
from tocsin_rca.evidence.sightings import Change
from tocsin_rca.evidence.undoing import changes, undo
from tocsin_rca.ports import ChangedField

_SOON = timedelta(hours=2)
_THEMES = (Theme.ERRORS, Theme.LATENCY, Theme.CRASH)


class RecentChange:
    """A commit changed one setting of a workload and nothing else, and then errors began."""

    name = "recent_change"
    needs = "Commits with their times, when the alert began, and logs with errors or failed calls."
    proof = (
        "Within two hours before the alert a commit changed one setting or only how the program "
        "starts, and errors followed."
    )
    against = (
        "A commit that changed more than that, or several; an older one; an alert not about "
        "errors, latency or crashes."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; that logs name no value leaves it likely and no more."""
        return self._of_settings(case) or tuple(_of_the_start(case))[:1]

    def _of_settings(self, case: Case) -> tuple[Finding, ...]:
        if not complaints(case) or not any(tells_of(case, theme) for theme in _THEMES):
            return ()
        changed = tuple(_changed(case))
        if len(changed) != 1 or len(changed[0][1].seen.data.fields) != 1:
            return ()
        return (_finding(case, *changed[0]),)


def _changed(case: Case) -> Iterator[tuple[Configured, Change]]:
    began = case.alert.starts_at
    for runs in running(case, case.workload.namespace) if case.workload else ():
        for setting in configured(case, runs) if runs.ref == case.workload else ():
            change = case.last_change(setting.object, setting.path, setting.value)
            if change is None or change.field.before is None or began is None:
                continue
            if timedelta(0) <= began - change.seen.data.at <= _SOON:
                yield setting, change


def _of_the_start(case: Case) -> Iterator[Finding]:
    """Another command or other arguments, and nothing else, since when calls or programs fail."""
    signs = (*(call.line.id for call in failed_calls(case)), *ids_of(complaints(case)))
    workload, began = case.workload, case.alert.starts_at
    if not signs or not workload or not any(tells_of(case, theme) for theme in _THEMES):
        return
    for change in changes(case, lambda field: _starts(field, workload)):
        history = change.seen.data
        whole = all(_starts(field, workload) for field in history.fields)
        if whole and began and timedelta(0) <= began - history.at <= _SOON:
            undone = [undo(case, Change(change.seen, field)) for field in history.fields]
            known = [one for one in undone if one]
            yield Finding(
                cause=CauseClass.CONTAINER_ARGS_INVALID,
                object=workload,
                confidence=0.75,
                summary=f"{workload} fails since it is started in another way:"
                f" {change.field.before!r} became {change.field.after!r}.",
                evidence=tuple(dict.fromkeys((change.seen.id, *signs[:3]))),
                change=known[0] if None not in undone else None,
                further=tuple(known[1:]) if None not in undone else (),
                because=f"{change.told} changed it; this undoes that.",
            )


def _starts(field: ChangedField, workload: ObjectRef) -> bool:
    """Whether a field says how a container of the workload is started."""
    same = (field.document.kind, field.document.name) == (workload.kind, workload.name)
    return same and any(step in field.path[-2:] for step in ("command", "args"))


def _finding(case: Case, setting: Configured, change: Change) -> Finding:
    wrong = complaints(case)
    return Finding(
        cause=CauseClass.CONFIG_VALUE_WRONG,
        object=setting.object,
        confidence=0.7,
        summary=f"{case.workload} fails since {setting.name} became {setting.value[:80]!r}"
        f" ({quoted(wrong[0])}).",
        evidence=tuple(dict.fromkeys((change.seen.id, *setting.ids, *ids_of(wrong)[:3]))),
        change=FieldChange(
            object=setting.object, path=setting.path, old=setting.value, new=change.field.before
        ),
        because=f"{change.told} changed it from {change.field.before!r}; this undoes that.",
    )
