"""The page of checks: what each asks, what it needs, and what becomes of a change that fails it."""

import inspect
from collections.abc import Iterator

from reference import NOTE
from tocsin_contracts import FailureCode
from tocsin_validation import checks
from tocsin_validation.checks.verdicts import ACTIONS
from tocsin_validation.ports import Check, Consequence

OUTCOMES = {
    Consequence.LOOK_AGAIN: "the cause is ruled out and rca looks for another",
    Consequence.REFRESH: "rca looks at everything afresh; nothing is ruled out",
    Consequence.ESCALATE: "a person takes over",
    Consequence.NO_CHANGE: "the run ends without a change",
    Consequence.WITH_CARE: "people may say yes all the same; it is shown, and raises the risk",
}

HEAD = f"""\
{NOTE}

# Checks

Every change passes these, in this order, before anybody is asked to approve it. The world is looked
at once, before the first: the cluster, the history of the file, open pull requests, what kustomize
renders, and the record of the run. What could not be told is *unknown*: it never counts as a pass,
ends no change, is shown, and raises the [risk](validation.md#risk). The first failure that a change
does not survive decides; `TOCSIN_MAX_RCA_ATTEMPTS` bounds how often rca looks again.
[Add a check](extend/check.md) says how another one is written.
"""

CODES = """\
## Failure codes

What did not pass carries one of these, closed, and what to do. Where nothing could be told, this
helps:
"""


def page() -> str:
    """Return the whole page."""
    lines = [line for one in checks.load() for line in _section(one)]
    known = [f"- `{code}`: {ACTIONS[code]}" for code in FailureCode if code in ACTIONS]
    others = ", ".join(f"`{code}`" for code in FailureCode if code not in ACTIONS)
    return "\n".join([HEAD, *lines, CODES, *known, "", f"The others are {others}.", ""])


def _section(one: Check) -> Iterator[str]:
    module = inspect.getmodule(type(one))
    question = (inspect.getdoc(module) or "").splitlines()[0]
    yield f"## {one.name}\n\n{question} {inspect.getdoc(type(one))}\n"
    yield f"- severity: {one.severity}"
    yield f"- needs: {one.needs}"
    yield f"- if it fails: {OUTCOMES[one.consequence]}"
    yield f"- code: `{one.code}`; to do: {one.action}\n"
