"""Plugins by name: an unknown one, or two of one name, stop the service with a sentence."""

from dataclasses import dataclass

import pytest

from tocsin_kit.errors import PermanentError
from tocsin_kit.registry import Registry


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
