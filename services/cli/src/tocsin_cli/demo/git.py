"""Ask git about the demo's repository, unimpressed by the user's own git configuration."""

import os
import subprocess
from pathlib import Path

from tocsin_kit.errors import PermanentError

_SECONDS = 30.0
_CLEAN = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}


def git(git_dir: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Return what git prints; PermanentError with its complaint if it fails."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", f"--git-dir={git_dir}", *arguments],
            input=stdin,
            capture_output=True,
            check=True,
            timeout=_SECONDS,
            env=inherited | _CLEAN,
        )
    except FileNotFoundError as error:
        raise PermanentError("git is not on PATH; install it") from error
    except subprocess.TimeoutExpired as error:
        raise PermanentError(f"git {arguments[0]} took over {_SECONDS:g} s") from error
    except subprocess.CalledProcessError as error:
        complaint = error.stderr.decode(errors="replace").strip()
        raise PermanentError(f"git {arguments[0]} in {str(git_dir)!r}: {complaint}") from error
    return done.stdout.decode(errors="replace")
