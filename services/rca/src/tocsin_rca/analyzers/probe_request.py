"""Probes that ask for what the program does not answer: scheme, protocol, host or command."""

import re

from tocsin_contracts import CauseClass, FieldChange, Finding
from tocsin_gitops.additions import failing_probe
from tocsin_gitops.bounds import Limits
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import sure
from tocsin_rca.evidence.lines import saying
from tocsin_rca.evidence.probes import failing_probes
from tocsin_rca.evidence.probing import FailingProbe, probes_failing
from tocsin_rca.evidence.remedy import deleted, valued

_WRONG = re.compile(
    r"(?i)statuscode: (?:400|401|403|405|406|410|415|421|426|501)\b|HTTP response to HTTPS client"
    r"|malformed HTTP|does not look like a TLS handshake|HTTP request to an HTTPS server"
    r"|no such host|does not implement the grpc health|\bUnimplemented\b|unknown service"
    r"|unsupported protocol"
    r"|invalid URL|missing port|invalid port|stopped after 10 redirects"
)
_PLAIN = re.compile(r"HTTP response to HTTPS client")
_SECURE = re.compile(r"HTTP request to an HTTPS server|plain HTTP request was sent to HTTPS port")
_REFUSED = re.compile(r"statuscode: 400\b|malformed HTTP")
_ABSENT = re.compile(r"statuscode: 404")
_COMMAND = re.compile(
    r"(?i)executable file not found|command not found|: not found|no such file or directory"
    r"|OCI runtime exec"
    r"|failed to exec in container|can't open|cannot open|permission denied|not a directory"
    r"|syntax error"
    r"|unknown (?:flag|option|command)|invalid option|unrecognized option|usage:|unary operator"
)
_NEVER = re.compile(r"^(?:exit [1-9]\d{0,2}|/?(?:usr/)?(?:bin/)?false)$")
_LASTING = ("livenessProbe", "readinessProbe")
_TIMED_OUT = re.compile(r"(?i)timed out|timeout|deadline exceeded")
_ENDED = re.compile(
    r"(?i)container (?:is )?not (?:running|found)|task .{1,200} not found|process .{1,60} not found"
)


class ProbeRequest:
    """What the probe asks is answered, and never with yes."""

    name = "probe_request"
    needs = "The words of the failing probe, and how it is declared."
    proof = (
        "The answer shows that the request is wrong: a status that refuses it, another protocol, "
        "an unknown host, a command that fails."
    )
    against = (
        "A command that only timed out or whose container was gone; a refused connection or a "
        "slow answer, which say nothing of the request."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each such probe; a commit that changed it is undone.

        A probe that can never pass is taken away.
        """
        found = (_finding(case, failing) for failing in probes_failing(case))
        return tuple(finding for finding in found if finding)


def _finding(case: Case, failing: FailingProbe) -> Finding | None:
    judged = _judged(case, failing)
    if judged is None:
        return None
    what, confidence = judged
    change, because = _change(case, failing)
    cause = (
        CauseClass.LIVENESS_PROBE_MISCONFIGURED
        if failing.decides_life
        else CauseClass.READINESS_PROBE_MISCONFIGURED
    )
    return Finding(
        cause=cause,
        object=failing.owner,
        confidence=sure(case, failing.told[0].about, 0.96 if change else confidence),
        summary=f"The {failing.word} probe of {failing.owner} {what}:"
        f" {failing.told[0].match.group()[:240].strip()}",
        evidence=failing.evidence,
        change=change,
        because=because,
    )


def _judged(case: Case, failing: FailingProbe) -> tuple[str, float] | None:
    if failing.saying(_WRONG):
        return "asks for what the program does not answer", 0.93
    if failing.saying(_ABSENT) and not failing_probes(case):
        return "asks for a path that is not there", 0.92
    return _commanded(failing)


def _commanded(failing: FailingProbe) -> tuple[str, float] | None:
    command = [str(word) for word in failing.asks.get("command") or ()]
    if any(_NEVER.match(word) for word in command):
        return "runs a command that can never pass", 0.96
    may_be = failing.container is None or failing.handler == "exec"
    if may_be and failing.saying(_COMMAND) and not failing.saying(_ENDED):
        return "runs a command that fails by itself", 0.92
    if failing.handler == "exec" and not failing.saying(_TIMED_OUT):
        return "runs a command that fails", 0.7
    return None


def _change(case: Case, failing: FailingProbe) -> tuple[FieldChange | None, str]:
    for field in ("path", "scheme", "port", "host"):
        value = failing.asks.get(field)
        path = failing.path(failing.handler, field)
        undone = case.last_change(failing.owner, path, value) if value is not None else None
        if undone and undone.field.before is not None:
            edit = FieldChange(object=failing.owner, path=path, old=value, new=undone.field.before)
            return edit, f"{undone.told} changed it; this undoes that."
    if right := _scheme(case, failing):
        return right, f"The program itself says that it speaks {right.new}."
    if other := _answered(case, failing):
        return other, f"The other probe passes with {other.new} on the same port."
    if failing.is_declared and not failing_probe(dict(failing.declared), None, Limits()):
        gone = deleted(failing.owner, failing.path(), dict(failing.declared))
        return gone, "Its command can only fail, so it says nothing of the program."
    return None, ""


def _answered(case: Case, failing: FailingProbe) -> FieldChange | None:
    """The path of the other probe of the container, which asks the same port and does not fail."""
    if not failing.saying(_ABSENT) or not failing.is_declared or failing.container is None:
        return None
    failed = {one.field for one in probes_failing(case) if one.owner == failing.owner}
    others = (failing.container.dig(f, "httpGet") for f in _LASTING if f not in failed)
    asked, port = failing.asks.get("path"), failing.asks.get("port")
    paths = {one.get("path") for one in others if one and one.get("port") == port}
    right = paths.pop() if len(paths) == 1 else None
    if right is None or asked is None or right == asked:
        return None
    return valued(failing.owner, failing.path("httpGet", "path"), asked, right)


def _scheme(case: Case, failing: FailingProbe) -> FieldChange | None:
    """The scheme that the answer, or the log of the program, says is the right one."""
    if failing.handler != "httpGet" or not failing.is_declared:
        return None
    asked, path = failing.asks.get("scheme"), failing.path(failing.handler, "scheme")
    if asked == "HTTPS" and failing.saying(_PLAIN):
        return FieldChange(object=failing.owner, path=path, old=asked, new="HTTP")
    secure = failing.saying(_SECURE) or (failing.saying(_REFUSED) and saying(case, _SECURE))
    if asked in (None, "HTTP") and secure:
        return valued(failing.owner, path, asked, "HTTPS")
    return None
