"""Which paths of a repository may be written at all, whatever an operator allows."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

_NEVER = ("codeowners", "chart.lock", "jenkinsfile", "azure-pipelines*", "bitbucket-pipelines*")
_TEMPLATES = "templates"
_WILDCARDS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def fault(path: str) -> str:
    """Say why a path may never be written; empty if it may.

    Judged as a careless file system would see it: letter case and look-alike forms make no
    difference. A step that begins with a dot is refused, which covers every forge's own folder.
    """
    if not path.isprintable() or "\\" in path or ":" in path:
        return "it holds a character that has no place in a path"
    if path != unicodedata.normalize("NFC", path):
        return "it is not in the one normal form of Unicode"
    steps = unicodedata.normalize("NFKC", path).casefold().split("/")
    if "" in steps:
        return "it is absolute, or holds an empty step"
    if _TEMPLATES in steps[:-1]:
        return "it may be a template of a chart, of which only values are changed"
    return next((why for step in steps if (why := _step_fault(step))), "")


def _step_fault(step: str) -> str:
    if step.startswith("."):
        return f"the step {step!r} begins with a dot"
    if step != step.strip() or step.endswith(".") or "~" in step:
        return f"the step {step!r} may mean another name on some file systems"
    if allowed(step, _NEVER):
        return f"{step!r} decides about reviews, pipelines or dependencies"
    return ""


def allowed(path: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs matches; `*` stays within a step, `**` crosses them."""
    return any(_pattern(glob).fullmatch(path) for glob in globs)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return re.compile("".join(_WILDCARDS.get(part) or re.escape(part) for part in parts))
