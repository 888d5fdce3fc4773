"""Start a service for one answer; that is how the command line knows what only a service can."""

import importlib.util
import subprocess
import sys
from collections.abc import Mapping

from tocsin_cli.errors import UsageError
from tocsin_kit.errors import PermanentError

_SECONDS = 300.0


def answer(service: str, *arguments: str, environment: Mapping[str, str], stdin: str = "") -> str:
    """Return what a service prints; what it complains of is our complaint."""
    if not is_installed(service):
        raise UsageError(f"{service!r} is not installed here; ask where it runs")
    module = f"tocsin_{service}"
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise PermanentError(f"{module} took over {_SECONDS:g} s") from error
    if done.returncode:
        raise PermanentError(done.stderr.strip().removeprefix("tocsin: ") or f"{module} failed")
    return done.stdout


def is_installed(service: str) -> bool:
    """Return whether the service is there to be started."""
    return importlib.util.find_spec(f"tocsin_{service}") is not None
