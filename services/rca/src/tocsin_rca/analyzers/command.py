"""Programs that cannot be started because they are not in the image."""

import re
from collections.abc import Iterator

from tocsin_contracts import CauseClass, Finding
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import proof, sure
from tocsin_rca.evidence.hearing import Saying, findings, quoted, subject
from tocsin_rca.evidence.remedy import with_remedy
from tocsin_rca.evidence.starting import respelt
from tocsin_rca.evidence.statements import Told, statements, told
from tocsin_rca.evidence.undoing import changes, is_start, undo

_START = re.compile(
    r"exec: \\?\"(?P<program>[^\"\\]{1,200})\\?\":? (?:executable file not found|stat "
    r"|permission denied"
    r"|no such file or directory|is a directory|not a directory)"
    r"|executable file `?(?P<other>[^`]{1,200})`? not found|no command specified"
    r"|exec (?P<script>/\S{1,200}): no such file or directory"
)
_IN_LOG = re.compile(
    r"(?m)^(?:[^\n]{0,60}/)?(?:ba|a|da|z)?sh: (?:[^\n:]{0,60}: )?(?:line )?(?:\d{1,5}: )?"
    r"(?!can't|cannot)[^\n:]{1,120}: (?:command )?not found"
    r"|(?m:^)[^\n:]{1,80}\.sh: (?:line )?\d{1,5}: [^\n:]{1,80}: (?:command )?not found"
    r"|: command not found|can't open file '[^']{1,160}': \[Errno 2\]"
    r"|Cannot find module '/[^']{1,160}'"
    r"|Unable to access jarfile|Could not find or load main class"
    r"|exec [^\n]{1,160}: no such file or directory"
    r"|(?:ba|a|da)?sh: (?:\d{1,3}: )?(?:can't open|cannot open|0: Can't open) [^\n]{1,160}"
    r"|exec: [^\n]{1,120}: not found|No such file or directory: '(?:/usr)?/(?:s?bin"
    r"|app)/[^']{1,80}'"
)
_UNKNOWN = re.compile(r": (?P<program>[\w-]{2,40}): (?:command )?not found")
_NOT_FOUND = 127
_OF_OTHERS = ("Unhealthy", "ProbeWarning", "FailedPostStartHook", "FailedPreStopHook")


class Command:
    """The runtime or a shell says that there is no such program."""

    name = "command"
    needs = (
        "What the runtime and shells said: events, states, logs, and the exit codes of containers."
    )
    proof = (
        "The runtime or a shell says that the program is not there or cannot be run, or a "
        "container ended with exit code 127."
    )
    against = (
        "The same words about a probe or a hook, or about another object nearby; an exit code "
        "alone, with no program named."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding; a commit that changed the command is undone."""
        if found := _not_started(case):
            return (_finding(case, found),)
        means = "{who} runs a program that is not there: {said}"
        said = findings(case, Saying(CauseClass.COMMAND_NOT_FOUND, _IN_LOG, 0.91, means))
        return tuple(_respelt(case, one) for one in said) or tuple(_by_code(case))[:1]


def _respelt(case: Case, finding: Finding) -> Finding:
    """Put right what a shell calls no program, if it is a slip of one."""
    words = _UNKNOWN.search(finding.summary)
    return with_remedy(finding, respelt(case, words["program"]) if words else None)


def _by_code(case: Case) -> Iterator[Finding]:
    """A shell ends with 127 if it finds no such program; nothing says which."""
    for sighting in case.containers:
        if any(ending.get("exitCode") == _NOT_FOUND for ending in sighting.endings):
            pod = sighting.pod
            yield Finding(
                cause=CauseClass.COMMAND_NOT_FOUND,
                object=subject(case, pod.data.ref),
                confidence=0.8,
                summary=f"Container {sighting.name} of {pod.data.ref} ends with exit code 127:"
                " what it runs is not there.",
                evidence=proof(case, pod.id),
            )


def _not_started(case: Case) -> tuple[Told, ...]:
    said = (
        one for one in statements(case) if one.reason not in _OF_OTHERS and "probe" not in one.text
    )
    found = tuple(Told(one, match) for one in said if (match := _START.search(one.text)))
    return found or tuple(one for one in told(case, _START) if one.about is None)


def _finding(case: Case, said: tuple[Told, ...]) -> Finding:
    first, who = said[0], subject(case, said[0].about)
    program = next((text for text in first.match.groups() if text), "nothing")
    change = next(changes(case, is_start), None)
    edit = undo(case, change) if change else None
    seen = (change.seen.id,) if change and edit else ()
    finding = Finding(
        cause=CauseClass.COMMAND_NOT_FOUND,
        object=who,
        confidence=sure(case, first.about, 0.97 if edit else 0.95),
        summary=f"{who} cannot start {program}: {quoted(first)}",
        evidence=proof(case, *dict.fromkeys(one.id for one in said), *seen),
        change=edit,
        because=f"{change.told} changed it; this undoes that." if change and edit else "",
    )
    return finding if edit else with_remedy(finding, respelt(case, program))
