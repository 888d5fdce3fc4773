"""`tocsin mcp`: what it says, what it pins, and how it ends."""

import json
import logging
from pathlib import Path

import pytest

from tocsin_cli import app
from tocsin_cli.commands import mcp
from tocsin_mcp.errors import LostError
from tocsin_testing.mcp import FakeServer, listed

FILE = """
servers:
  shop:
    transport: stdio
    command: shop
    args: ["${SHELF}"]
    allow: [look]
    capabilities: {look: read}
"""


@pytest.fixture(autouse=True)
def kept_logging():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def shop(monkeypatch, tmp_path):
    server = FakeServer(listed("look", description="Looks\x1b[31m around."), listed("buy"))
    monkeypatch.setattr(mcp, "connect", server.connect)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "servers.yaml").write_text(FILE)
    for name in ("TOCSIN_CONFIG", "TOCSIN_MCP_PINS", "TOCSIN_MCP_TRUST_FIRST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TOCSIN_MCP_SERVERS", "servers.yaml")
    monkeypatch.setenv("SHELF", "top")
    return server


def test_a_tool_is_offered_once_it_was_accepted(shop, capsys):
    assert app.main(["mcp", "doctor"]) == 1
    assert "tocsin mcp accept shop look" in capsys.readouterr().out
    assert app.main(["mcp", "accept", "shop", "look"]) == 0
    assert "Looks around." in capsys.readouterr().out
    assert app.main(["mcp", "doctor"]) == 0
    assert "1 of its 2 tools are offered" in capsys.readouterr().out


def test_a_changed_tool_is_counted_and_makes_the_doctor_fail(shop, capsys):
    app.main(["mcp", "accept", "shop", "--all"])
    shop.listed = (listed("look", digest="other"),)
    capsys.readouterr()
    assert app.main(["mcp", "list", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["state"], row["offered"], row["changed"]) == ("reached", "0", "1")
    assert app.main(["mcp", "doctor"]) == 1


def test_what_cannot_be_used_is_not_accepted_and_its_name_cannot_steer_a_terminal(shop, capsys):
    Path("servers.yaml").write_text(FILE.replace("[look]", '["*"]'))
    evil = "\x1b[31mlook\nat"
    shop.listed = (listed("look"), listed(evil))
    assert app.main(["mcp", "accept", "shop", "--all"]) == 0
    assert "at" not in capsys.readouterr().out.split()
    assert app.main(["mcp", "accept", "shop", evil]) != 0
    said = capsys.readouterr()
    assert "cannot be used: its name" in said.err
    assert "\x1b" not in said.err


def test_all_accepts_only_what_is_allowed(shop, tmp_path):
    assert app.main(["mcp", "accept", "shop", "--all"]) == 0
    pins = json.loads((tmp_path / ".tocsin" / "mcp-pins.json").read_text())
    assert pins["servers"] == {"shop": {"look": "of look"}}


def test_nothing_is_pinned_by_looking(shop, tmp_path):
    for command in (["mcp", "list"], ["mcp", "doctor"]):
        app.main(command)
    assert not (tmp_path / ".tocsin").exists()


def test_a_server_that_is_away_is_listed_as_such(shop, capsys):
    shop.refusals.append(LostError("cut"))
    assert app.main(["mcp", "list"]) == 0
    assert ["shop", "stdio", "away", "0", "0", "0"] in [
        line.split() for line in capsys.readouterr().out.splitlines()
    ]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["mcp", "accept", "shop"], "--all"),
        (["mcp", "accept", "shop", "steal"], "no tool 'steal'"),
        (["mcp", "accept", "stop", "look"], "known: shop"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(shop, capsys, command, said):
    assert app.main(command) == 2
    assert said in capsys.readouterr().err


def test_without_a_file_of_servers_the_setting_is_named(shop, capsys, monkeypatch):
    monkeypatch.delenv("TOCSIN_MCP_SERVERS")
    assert app.main(["mcp", "list"]) == 2
    assert "TOCSIN_MCP_SERVERS" in capsys.readouterr().err


def test_an_unset_variable_ends_the_command_and_is_named(shop, capsys, monkeypatch):
    monkeypatch.delenv("SHELF")
    assert app.main(["mcp", "list"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "server 'shop', field 'args.0': the variable 'SHELF' is not set" in said
