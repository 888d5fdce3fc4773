"""What the code may not do, however convenient it would be."""

import ast
import re
from pathlib import Path

import pytest

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


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _is_broad(handler: ast.ExceptHandler) -> bool:
    caught = ast.walk(handler.type) if handler.type else ()
    return handler.type is None or any(isinstance(n, ast.Name) and n.id in BROAD for n in caught)


def _goes_on_up(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


@pytest.mark.parametrize("source", [p for p in SOURCES if _name(p) not in EDGES], ids=_name)
def test_nothing_is_swallowed(source):
    broad = [
        n for n in ast.walk(_tree(source)) if isinstance(n, ast.ExceptHandler) and _is_broad(n)
    ]
    assert [handler.lineno for handler in broad if not _goes_on_up(handler)] == []


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


@pytest.mark.parametrize("test", TESTS, ids=_name)
def test_a_test_waits_for_something_and_never_sleeps(test):
    assert [node.lineno for node in ast.walk(_tree(test)) if _is_sleep(node)] == []


@pytest.mark.parametrize("test", TESTS, ids=_name)
def test_a_test_imports_nothing_from_a_conftest(test):
    imports = [n for n in ast.walk(_tree(test)) if isinstance(n, ast.Import | ast.ImportFrom)]
    modules = [getattr(n, "module", None) or "" for n in imports]
    names = [alias.name for n in imports for alias in n.names]
    assert [name for name in modules + names if "conftest" in name] == []


def _ignores(path: Path) -> list[re.Match[str]]:
    return list(IGNORE.finditer(path.read_text(encoding="utf-8")))


def test_rules_are_rarely_put_aside():
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES)
    ignores = sum(len(_ignores(path)) for path in SOURCES)
    assert ignores / lines * 1000 <= IGNORES_PER_1000_LINES


@pytest.mark.parametrize("source", [p for p in SOURCES if _ignores(p)], ids=_name)
def test_a_rule_is_put_aside_by_name_and_for_a_reason(source):
    """The reason of a file's first one holds for the same rule further down."""
    ignores = _ignores(source)
    reasoned = {found["codes"].strip() for found in ignores if found["why"]}
    assert [found[0] for found in ignores if not found["codes"].strip(" :")] == []
    assert [found[0] for found in ignores if found["codes"].strip() not in reasoned] == []
