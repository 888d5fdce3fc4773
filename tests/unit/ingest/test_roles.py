"""A receiver is small: what only triage needs is not even imported."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e

LOOK = """
import sys
from tocsin_ingest.app import build
service = build(["--dev", "true", "--role", sys.argv[1]])
print(service.http is not None, len(service.parts.bus.broker.subscribers) > 0)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""
AGENTS = {"langgraph", "langchain_core", "litellm"}


def look(role):
    found = subprocess.run(
        [sys.executable, "-c", LOOK, role], capture_output=True, text=True, check=True, timeout=60
    )
    parts, modules = found.stdout.splitlines()
    return parts, set(modules.split())


@pytest.mark.parametrize(
    ("role", "parts", "agents"),
    [
        ("receiver", "True False", set()),
        ("triage", "False True", {"langgraph", "langchain_core"}),
        ("both", "True True", {"langgraph", "langchain_core"}),
    ],
)
def test_a_role_has_its_part_and_imports_nothing_else(role, parts, agents):
    found, modules = look(role)
    assert found == parts
    assert modules & AGENTS == agents
