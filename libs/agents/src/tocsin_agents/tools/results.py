"""How a call ends, in the same words whichever tool it was."""

from typing import Any

from tocsin_agents.tools.port import Status, ToolResult, ToolSpec
from tocsin_agents.tools.schemas import usage
from tocsin_kit.errors import TocsinError, TransientError
from tocsin_kit.untrusted import line


def ok(data: Any, message: str = "") -> ToolResult:
    """Return what a call gave."""
    return ToolResult(status=Status.OK, data=data, message=message)


def failed(error: str, message: str = "") -> ToolResult:
    """Return why a call gave nothing; the error says what to do about it."""
    return ToolResult(status=Status.ERROR, error=error, message=message)


def refused(error: str) -> ToolResult:
    """Return why a call was not made."""
    return ToolResult(status=Status.REFUSED, error=error, message="The tool was not called.")


def broken(error: TocsinError) -> ToolResult:
    """Return what a tool could not do, and whether it is worth to try again."""
    again = isinstance(error, TransientError)
    return failed(str(error), "It may work later." if again else "Trying again will not help.")


def unfit(spec: ToolSpec, wrong: str) -> ToolResult:
    """Return what is wrong with the arguments, and what to send."""
    sentence = f"{line(wrong, 500)}. {spec.name} takes: {usage(spec.parameters)}"
    return failed(sentence, "The arguments do not fit.")
