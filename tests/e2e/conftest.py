import os
from pathlib import Path

import pytest

from tocsin_kit.errors import PermanentError
from tocsin_testing import kube_mcp


@pytest.fixture(scope="session")
def kubernetes_program():
    """Return the real Kubernetes MCP server; only where it cannot be had, a test skips itself."""
    try:
        return kube_mcp.program(Path(__file__).parents[2] / ".tools")
    except PermanentError as error:
        if "CI" in os.environ:
            pytest.fail(f"the Kubernetes MCP server cannot be had: {error}")
        pytest.skip(f"NOT TESTED with the real Kubernetes MCP server: {error}")
