"""The three answers a check can give, spelled once."""

from tocsin_contracts import CheckResult, CheckVerdict


def passed(check: str, detail: str) -> CheckResult:
    """Answer that all is well, and what was looked at."""
    return CheckResult(check=check, verdict=CheckVerdict.PASS, detail=detail)


def failed(check: str, detail: str) -> CheckResult:
    """Answer what is wrong."""
    return CheckResult(check=check, verdict=CheckVerdict.FAIL, detail=detail)


def unknown(check: str, detail: str) -> CheckResult:
    """Answer why it cannot be told, which never counts as a pass."""
    return CheckResult(check=check, verdict=CheckVerdict.UNKNOWN, detail=detail)
