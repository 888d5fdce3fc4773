"""Every threat in SECURITY.md is stopped by something, and each test that it names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THREATS = [f"T{number}" for number in range(1, 23)]
ROW = re.compile(r"^\| (T\d+) \|(.*)\|$", re.MULTILINE)
NAME = re.compile(r"`(test_\w+)`")
DEFINED = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)
ROWS = dict(ROW.findall((ROOT / "SECURITY.md").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def defined():
    """Return the names of all tests."""
    files = (ROOT / "tests").rglob("test_*.py")
    return {name for file in files for name in DEFINED.findall(file.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("threat", THREATS)
def test_every_threat_is_stopped_by_something_that_is_tested(threat, defined):
    cells = [cell.strip() for cell in ROWS[threat].split("|")]
    assert [cell for cell in cells if not cell] == []
    named = NAME.findall(cells[-1])
    assert named, "no test is named"
    assert [name for name in named if name not in defined] == []


def test_no_threat_is_numbered_twice_or_left_out():
    assert list(ROWS) == THREATS
