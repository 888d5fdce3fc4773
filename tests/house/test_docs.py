"""The documentation says what the code says, and every link in it leads somewhere."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from tocsin_contracts import EVENTS
from tocsin_kit.topology import READS

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("libs/*/README.md"),
        *ROOT.glob("services/*/README.md"),
    ]
)
EXTENSION_POINTS = ("alert-source", "analyzer", "backend", "channel", "check", "event", "setting")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _text(path: Path) -> str:
    return FENCE.sub("", path.read_text(encoding="utf-8"))


def _anchors(path: Path) -> set[str]:
    """The anchors that headings get where the pages are read."""
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(_text(path)))
    return {heading.replace(" ", "-") for heading in words}


def _leads_nowhere(page: Path, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = (page.parent / file) if file else page
    return not target.exists() or bool(anchor and anchor not in _anchors(target))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_somewhere(page):
    links = [link for link in LINK.findall(_text(page)) if "://" not in link]
    assert [link for link in links if _leads_nowhere(page, link)] == []


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.__name__)
def test_every_event_is_explained_with_its_readers(event):
    page = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if f"`{event.topic}`" in line)
    assert f"## {event.__name__}\n\n{event.__doc__}" in page
    assert [service for service, read in READS if read is event and service not in row] == []


@pytest.mark.parametrize(("service", "event"), READS, ids=str)
def test_a_service_says_in_its_readme_what_it_reads(service, event):
    page = (ROOT / "services" / service / "README.md").read_text(encoding="utf-8")
    assert f"`{event.__name__}`" in page


@pytest.mark.parametrize("point", EXTENSION_POINTS)
def test_every_extension_point_has_a_page_that_ends_with_a_command(point):
    page = ROOT / "docs" / "extend" / f"{point}.md"
    assert "./just test" in page.read_text(encoding="utf-8").rpartition("## ")[2]


SCENARIO = re.compile(r"^\| (D\d+) \|.*\| (`.*`) \|$", re.MULTILINE)


def test_every_scenario_names_tests_that_exist():
    page = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    named = {row: re.findall(r"`([^`]+)`", tests) for row, tests in SCENARIO.findall(page)}
    assert list(named) == [f"D{number}" for number in range(1, 14)]
    assert [test for tests in named.values() for test in tests if not _is_a_test(test)] == []


FAULT = re.compile(r"^\| (F\d+) \|.*\| (`.*`) \|$", re.MULTILINE)


def test_every_fault_names_tests_that_exist():
    page = (ROOT / "docs" / "faults.md").read_text(encoding="utf-8")
    named = {row: re.findall(r"`([^`]+)`", tests) for row, tests in FAULT.findall(page)}
    assert list(named) == [f"F{number}" for number in range(1, 21)]
    assert [test for tests in named.values() for test in tests if not _is_a_test(test)] == []


def _is_a_test(name: str) -> bool:
    file, _, function = name.partition("::")
    path = ROOT / "tests" / file
    return path.is_file() and f"def {function}(" in path.read_text(encoding="utf-8")


@pytest.fixture
def docs(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    spec = importlib.util.spec_from_file_location("docs", ROOT / "scripts" / "docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    for name in [name for name in sys.modules if name.partition(".")[0] == "reference"]:
        del sys.modules[name]


def test_a_page_that_was_not_generated_again_is_named(docs, tmp_path, monkeypatch):
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    wanted = {tmp_path / name: "new" for name in ("fresh.md", "old.md", "missing.md")}
    (tmp_path / "fresh.md").write_text("new")
    (tmp_path / "old.md").write_text("old")
    assert docs.stale(wanted) == ["old.md", "missing.md"]


def test_an_event_that_nobody_publishes_is_an_error_and_no_gap_in_the_page(docs, tmp_path):
    with pytest.raises(LookupError, match="nobody publishes IncidentOpened"):
        docs.events.page(tmp_path)
