"""What the code may not do, however convenient it would be."""

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SOURCES = sorted(p for tree in ("libs", "services") for p in (ROOT / tree).glob("*/src/**/*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

EDGES = {"libs/kit/src/tocsin_kit/delivery.py", "libs/kit/src/tocsin_kit/service.py"}
"""Where a bug ends: the fate of a message, and the exit of a process. Elsewhere it goes on up."""

SLEEP_SECONDS = 0.2
IGNORES_PER_1000_LINES = 1
"""Each has its reason beside it; most keep a term of the field that a rule would bend."""

IGNORE = re.compile(r"#\s*(?:type:\s*ignore|noqa)(?P<codes>[^-\n]*)(?P<why>- \S.*)?")
BROAD = {"Exception", "BaseException"}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _nodes(paths: Iterable[Path], written: str) -> Iterator[tuple[Path, Any]]:
    """Yield the nodes of each file in which a pattern is written at all: most are not worth it."""
    for path in paths:
        if re.search(written, _text(path)):
            yield from ((path, node) for node in ast.walk(ast.parse(_text(path))))


def _is_broad(handler: ast.ExceptHandler) -> bool:
    caught = ast.walk(handler.type) if handler.type else ()
    return handler.type is None or any(isinstance(n, ast.Name) and n.id in BROAD for n in caught)


def _goes_on_up(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_nothing_is_swallowed():
    swallowed = [
        f"{_name(source)}:{node.lineno}"
        for source, node in _nodes(SOURCES, r"\bexcept\s*:|\b(?:Base)?Exception\b")
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _goes_on_up(node)
    ]
    assert [where for where in swallowed if where.partition(":")[0] not in EDGES] == []


def test_no_wait_swallows_a_cancellation():
    """Before Python 3.12 asyncio.wait_for can; asyncio.timeout cannot."""
    waits = [
        f"{_name(source)}:{node.lineno}"
        for source, node in _nodes(SOURCES, "wait_for")
        if isinstance(node, ast.Attribute) and node.attr == "wait_for"
        if "/testing/" not in _name(source)
    ]
    assert waits == []


def _is_sleep(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    if node.func.attr != "sleep" or not isinstance(node.func.value, ast.Name):
        return False
    if node.func.value.id == "time":
        return True
    seconds = node.args[0] if node.args else None
    constant = seconds.value if isinstance(seconds, ast.Constant) else 0
    return node.func.value.id == "asyncio" and constant > SLEEP_SECONDS


def test_a_test_waits_for_something_and_never_sleeps():
    nodes = _nodes(TESTS, "sleep")
    assert [f"{_name(test)}:{node.lineno}" for test, node in nodes if _is_sleep(node)] == []


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
    return []


def test_a_test_imports_nothing_from_a_conftest():
    nodes = _nodes(TESTS, "conftest")
    assert [_name(test) for test, node in nodes if "conftest" in " ".join(_imported(node))] == []


def _ignores(path: Path) -> list[re.Match[str]]:
    return list(IGNORE.finditer(_text(path)))


def test_rules_are_rarely_put_aside():
    lines = sum(len(_text(path).splitlines()) for path in SOURCES)
    ignores = sum(len(_ignores(path)) for path in SOURCES)
    assert ignores / lines * 1000 <= IGNORES_PER_1000_LINES


def _unexplained(path: Path) -> list[str]:
    """The reason of a file's first one holds for the same rule further down."""
    ignores = _ignores(path)
    reasoned = {found["codes"].strip() for found in ignores if found["why"]}
    named = {codes for codes in reasoned if codes.strip(" :")}
    return [
        f"{_name(path)}: {found[0]}" for found in ignores if found["codes"].strip() not in named
    ]


def test_a_rule_is_put_aside_by_name_and_for_a_reason():
    assert [line for source in SOURCES for line in _unexplained(source)] == []
