"""Plugins by name: an unknown one, or two of one name, stop the service with a sentence."""

import sys
from dataclasses import dataclass

import pytest

from tocsin_kit.errors import PermanentError
from tocsin_kit.registry import Registry, installed


@dataclass(frozen=True)
class Plugin:
    name: str


A, B = Plugin("a"), Plugin("b")


def test_a_plugin_is_found_by_its_name():
    registry = Registry("checks", [A, B])
    assert registry["b"] is B
    assert "a" in registry
    assert "c" not in registry


def test_plugins_come_in_the_order_they_are_listed():
    assert list(Registry("checks", [B, A])) == [B, A]


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(PermanentError, match=r"^checks: no 'c'; known: a, b$"):
        Registry("checks", [B, A])["c"]


def test_two_plugins_of_one_name_are_refused():
    with pytest.raises(PermanentError, match=r"^checks: two plugins are called 'a'; rename one$"):
        Registry("checks", [A, B, Plugin("a")])


GROUP = "tocsin.test_plugins"
BLUE = """
class Blue:
    name = "blue"
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package that brings plugins: its module, and its metadata, as pip leaves them."""
    made = []

    def install(package, code, **points):
        folder = tmp_path / package
        info = folder / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        (folder / f"{package}.py").write_text(code)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = "\n".join(f"{name} = {package}:{to}" for name, to in points.items())
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n")
        monkeypatch.syspath_prepend(folder)
        made.append(package)

    yield install
    for package in made:
        sys.modules.pop(package, None)


def test_an_installed_plugin_is_loaded_when_it_is_named(install):
    install("colours", BLUE, blue="Blue")
    (plugin,) = installed("colours", GROUP, ["blue", "blue"])
    assert plugin.name == "blue"


def test_what_is_installed_and_not_named_is_never_imported(install):
    install("trap", "raise SystemExit('imported')", blue="Blue")
    assert installed("colours", GROUP, []) == []


def test_a_name_that_nothing_brings_is_answered_with_what_is_installed(install):
    install("colours", BLUE, blue="Blue", green="Green")
    with pytest.raises(PermanentError, match=r"no plugin 'red' is installed; installed: blue, gre"):
        installed("colours", GROUP, ["red"])


def test_two_packages_that_bring_one_name_are_refused(install):
    install("colours", BLUE, blue="Blue")
    install("paints", BLUE, blue="Blue")
    wanted = r"two plugins are called 'blue' \(colours:Blue and paints:Blue\)"
    with pytest.raises(PermanentError, match=wanted):
        installed("colours", GROUP, ["blue"])


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        ("def broken(:", "SyntaxError"),
        ("value = 1 / 0", "ZeroDivisionError"),
        ("other = 1", "AttributeError"),
        ("class Blue:\n    pass", "AttributeError"),
        ("class Blue:\n    name = 'red'", "calls itself 'red'"),
    ],
)
def test_a_plugin_that_breaks_stops_the_start_with_its_name(install, code, why):
    install("colours", code, blue="Blue")
    with pytest.raises(PermanentError, match=rf"^colours: plugin 'blue' .*{why}"):
        installed("colours", GROUP, ["blue"])
