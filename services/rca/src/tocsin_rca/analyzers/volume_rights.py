"""Programs that may not write where they want to: file rights, groups, read-only roots."""

import re

from tocsin_contracts import CauseClass, FieldPath, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import Saying, findings, heard, quoted
from tocsin_rca.evidence.remedy import with_remedy
from tocsin_rca.evidence.undoing import changes, undo
from tocsin_rca.evidence.writable import room_to_write

_READ_ONLY = re.compile(r"(?i)read-only file ?system|\bEROFS\b|\[Errno 30\]")
_DENIED = re.compile(
    r"(?i)\[Errno 13\] Permission denied:? ?'?/|EACCES: permission denied, \w{1,12} '/"
    r"|(?:mkdir|touch|cp|mv|rm|tee|chown|chmod|chgrp|ln|install|cat):? [^\n]{0,120}"
    r"(?:permission denied|operation not permitted)"
    r"|(?:cannot|can't|could not|unable to|failed to) (?:create|open|write|change|touch|access"
    r"|make|lock)"
    r"[^\n]{0,160}(?:permission denied|operation not permitted|access denied)"
    r"|(?:open|mkdir|create|rename|unlink|write|stat|lock) /[^\s:]{0,160}: permission denied"
    r"|\w{2,12}\(\) \"/[^\"]{1,160}\" failed \((?:13|30): |AccessDeniedException: /"
    r"|FileNotFoundException: /[^\s(]{1,160} \(permission denied\)|\bis not writable"
    r"|\.erlang\.cookie: eacces|not writable by|FS_PERMISSION_DENIED"
    r"|data directory .{0,120}wrong ownership"
    r"|can't (?:open|create|write|cd)[^\n]{0,160}permission denied"
)
_PATH = re.compile(r"(?P<path>/[\w.-]{1,64}(?:/[\w.-]{1,64}){0,8})")
_SECURITY = (
    "readOnlyRootFilesystem",
    "runAsUser",
    "runAsGroup",
    "fsGroup",
    "readOnly",
    "mountPath",
)


class VolumeRights:
    """A program is kept from writing."""

    name = "volume_rights"
    needs = "Logs or endings, the security settings and mounts of the workload, and commits."
    proof = (
        "A program says that its file system is read-only, or that it has no right to create, "
        "open or change a file."
    )
    against = "A line that is only for information; words that come from another workload."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; a commit that took the right away is undone."""
        cause = CauseClass.VOLUME_PERMISSION_DENIED
        found = findings(
            case,
            Saying(cause, _READ_ONLY, 0.93, "{who} writes where it may only read: {said}"),
            Saying(cause, _DENIED, 0.91, "{who} has no right to write there: {said}"),
        )
        return tuple(_with_change(case, finding) for finding in found)


def _with_room(case: Case, finding: Finding) -> Finding:
    """A place that is meant to be written to may be, where the root is read-only on purpose."""
    lines = [quoted(one) for one in heard(case, _READ_ONLY)]
    paths = [match["path"] for line in lines for match in _PATH.finditer(line)]
    rooms = (room_to_write(case, finding.object, path) for path in paths)
    return with_remedy(finding, next((room for room in rooms if room), None))


def _with_change(case: Case, finding: Finding) -> Finding:
    for change in changes(case, lambda field: _is_security(field.path)):
        if edit := undo(case, change):
            update = {
                "change": edit,
                "confidence": 0.96,
                "because": f"{change.told} changed it; this undoes that.",
                "evidence": (*finding.evidence, change.seen.id),
            }
            return finding.model_copy(update=update)
    return _with_room(case, finding)


def _is_security(path: FieldPath) -> bool:
    return any(step in _SECURITY for step in path)
