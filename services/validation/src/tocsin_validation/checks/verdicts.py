"""The three answers a check can give, spelled once, and how a check is asked for one."""

from collections.abc import Iterable
from typing import Any

from tocsin_contracts import CheckResult, CheckVerdict, FailureCode
from tocsin_validation.facts import Known
from tocsin_validation.ports import Check, Proposed

ACTIONS = {
    FailureCode.MISSING_CREDENTIALS: "give the cluster's server credentials",
    FailureCode.EXPIRED_CREDENTIALS: "renew the credentials of the cluster's server",
    FailureCode.RIGHTS_DENIED: "allow the cluster's server to read this",
    FailureCode.CLUSTER_UNREACHABLE: "see that the cluster's server is up and reaches the cluster",
    FailureCode.CONTEXT_NOT_FOUND: "name the cluster in TOCSIN_CLUSTER_SERVERS",
    FailureCode.MISSING_TOOL: "install kubectl, and helm for charts, where validation runs",
    FailureCode.RATE_LIMITED: "wait, then investigate again",
    FailureCode.TIMEOUT: "investigate again, or look by hand",
    FailureCode.NOT_RECORDED: "look by hand, or connect the living cluster",
    FailureCode.NOT_FOUND: "look by hand: it was not found",
    FailureCode.UNSUPPORTED: "look by hand: nothing here can tell",
}
"""What helps where nothing could be told, whichever check asked."""


def passed(check: str, detail: str) -> CheckResult:
    """Answer that all is well, and what was looked at."""
    return CheckResult(check=check, verdict=CheckVerdict.PASS, detail=detail)


def failed(check: str, detail: str) -> CheckResult:
    """Answer what is wrong."""
    return CheckResult(check=check, verdict=CheckVerdict.FAIL, detail=detail)


def unknown(check: str, detail: str, code: FailureCode | None = None) -> CheckResult:
    """Answer why it cannot be told, which never counts as a pass."""
    return CheckResult(check=check, verdict=CheckVerdict.UNKNOWN, detail=detail, code=code)


def untold(check: str, fact: Known[Any]) -> CheckResult:
    """Answer that a fact is not known."""
    return unknown(check, fact.why, fact.code)


def ask(checks: Iterable[Check], change: Proposed) -> list[CheckResult]:
    """Ask each check; what did not pass carries a code and what to do, from the check if need be.

    Pure, but it may take long enough to be asked in a thread.
    """
    return [_whole(check, check.run(change)) for check in checks]


def _whole(check: Check, result: CheckResult) -> CheckResult:
    if result.verdict is CheckVerdict.PASS:
        return result.model_copy(update={"severity": check.severity})
    code = result.code or check.code
    helps = ACTIONS.get(result.code) if result.code else None
    action = result.action or helps or check.action
    return result.model_copy(update={"severity": check.severity, "code": code, "action": action})
