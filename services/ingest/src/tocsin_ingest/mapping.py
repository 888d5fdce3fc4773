"""How an operator describes a new sender: one JMESPath expression for each field of an alert."""

from collections.abc import Iterator
from typing import Annotated, Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tocsin_contracts import Severity

LONGEST = 500
"""Characters of an expression: what it costs grows with it, and with nothing else but the body."""

SOURCE_NAME = r"^[a-z0-9][a-z0-9_-]{0,62}$"


def checked(expression: str) -> str:
    """Return an expression that can be evaluated, or none; ValueError says why it cannot be."""
    if not expression:
        return expression
    if len(expression) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST} characters")
    try:
        tree: Any = jmespath.compile(expression).parsed
        faults = list(_faults(tree))
    except JMESPathError as error:
        raise ValueError(f"{expression!r} is no JMESPath: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise ValueError(f"{expression[:40]!r}… is nested too deeply") from None
    if faults:
        raise ValueError(f"{expression!r}: {faults[0]}")
    return expression


Expression = Annotated[str, AfterValidator(checked)]


class SourceMapping(BaseModel):
    """The expressions of one sender; each is looked up in an alert, then in the whole body."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    alerts: Expression = "@"
    title: Annotated[Expression, Field(min_length=1)]
    status: Expression = ""
    resolved_when: Expression = ""
    severity: Expression = ""
    severities: dict[str, Severity] = Field(default_factory=dict)
    summary: Expression = ""
    labels: dict[str, Expression] = Field(default_factory=dict)
    starts_at: Expression = ""
    ends_at: Expression = ""
    link: Expression = ""
    key: Expression = ""


def _faults(node: Any) -> Iterator[str]:
    """What the language finds out only while it evaluates: functions that are not there."""
    if not isinstance(node, dict):
        return
    given = node.get("children", [])
    if node["type"] == "function_expression":
        known = Functions.FUNCTION_TABLE.get(node["value"])
        if known is None:
            yield f"no function {node['value']!r}"
        elif not _fits(len(given), known["signature"]):
            yield f"{node['value']}() takes {len(known['signature'])} arguments, not {len(given)}"
    for child in given:
        yield from _faults(child)


def _fits(given: int, signature: tuple[dict[str, Any], ...]) -> bool:
    takes_more = signature[-1].get("variadic", False)
    return given >= len(signature) if takes_more else given == len(signature)
