"""`tocsin backup` and `tocsin restore` are commands that say what they do and what they need."""

import pytest

from tocsin_cli import app
from tocsin_cli.errors import ExitCode


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("TOCSIN_NATS_URL", "TOCSIN_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_without_servers_it_says_how_to_name_them(command, capsys):
    assert app.main([command, "folder"]) == ExitCode.UNREACHABLE
    assert "TOCSIN_NATS_URL" in capsys.readouterr().err


def test_a_restore_that_loses_something_has_to_be_asked_for(capsys):
    assert app.main(["restore", "--help"]) == ExitCode.OK
    assert "--force" in capsys.readouterr().out
