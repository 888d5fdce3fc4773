"""What is printed as a command can be pasted as it is."""

import sys

import pytest

from tocsin_cli import hints


@pytest.fixture(autouse=True)
def _a_folder_without_tocsin_on_the_path(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "argv", [str(tmp_path / ".venv/bin/tocsin"), "up"])


def test_a_program_that_the_shell_does_not_find_is_called_by_its_path(tmp_path, monkeypatch):
    assert hints.command("run", "list") == ".venv/bin/tocsin run list"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert hints.command("run", "list") == f"{tmp_path}/.venv/bin/tocsin run list"


def test_a_program_that_the_shell_finds_is_called_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/usr/local/bin/tocsin", "up"])
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/tocsin").touch(mode=0o755)
    assert hints.command("run", "list") == "tocsin run list"


def test_a_program_below_this_folder_is_called_by_its_path_for_a_path_may_be_of_one_call_only(
    tmp_path,
):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/tocsin").touch(mode=0o755)
    assert hints.command("run", "list") == ".venv/bin/tocsin run list"


def test_another_folder_is_named_and_words_are_quoted(tmp_path):
    assert hints.command("x", data=tmp_path / ".tocsin") == ".venv/bin/tocsin x"
    said = hints.command("alert", "send", "It is down", data=tmp_path / "d")
    assert said == f".venv/bin/tocsin alert send 'It is down' --data {tmp_path}/d"
