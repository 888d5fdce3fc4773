"""`tocsin tools list`: the command line asks rca, as a process of its own."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

TOCSIN = Path(sysconfig.get_path("scripts")) / "tocsin"
ODD = Path(__file__).with_name("mcp_server.py")


def listing(folder, *flags):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TOCSIN_")}
    return subprocess.run(
        [TOCSIN, "tools", "list", *flags],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
    )


def test_our_own_tools_are_listed_without_any_configuration(tmp_path):
    told = listing(tmp_path)
    assert told.returncode == 0, told.stderr
    lines = [line.split() for line in told.stdout.splitlines()]
    assert ["k8s.get", "read", "k8s", "offered"] in lines
    assert ["git.read_file", "read", "git", "offered"] in lines


def test_tools_of_a_server_that_nobody_accepted_are_listed_as_such_and_stay_so(tmp_path):
    command = {"command": sys.executable, "args": [str(ODD), str(tmp_path)]}
    more = {"transport": "stdio", "allow": ["pid"], "capabilities": {"*": "read"}}
    servers = {"odd": command | more, "gone": {**more, "command": "false"}}
    (tmp_path / "servers.yaml").write_text(json.dumps({"servers": servers}))
    told = listing(tmp_path, "--servers", "servers.yaml", "--pins", "pins.json", "--json")
    assert told.returncode == 0, told.stderr
    states = {one["name"]: one["state"] for one in json.loads(told.stdout)}
    assert states["odd.pid"] == "not accepted"
    assert states["odd.die"] == "not allowed"
    assert states["gone.*"].startswith("away: ")
    assert not (tmp_path / "pins.json").exists()


def test_a_file_of_servers_that_cannot_be_right_is_named(tmp_path):
    (tmp_path / "servers.yaml").write_text("servers: {odd: {transport: pigeon}}")
    told = listing(tmp_path, "--servers", "servers.yaml")
    assert told.returncode == 1
    assert "server 'odd': field 'transport'" in " ".join(told.stderr.split())
