"""What no tracked file may say: hosts of package indexes, paths of one machine, unfinished work."""

import functools
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FORBIDDEN = {
    "the host of a package index": r"pyp[i]\.org|pythonhoste[d]|npmj[s]\.(org|com)"
    r"|deb\.debia[n]|proxy\.golan[g]",
    "a path of one machine": r"/wor[k]/|/roo[t]/|/hom[e]/\w|/User[s]/\w",
    "unfinished work": r"\bTOD[O]\b|\bFIXM[E]\b|\bXX[X]\b|NotImplemente[d]",
    "how it was made": r"\bspike[s]/|skeleto[n]|sub-?agen[t]|tool librar[y]",
}
"""The brackets keep this file from saying it."""


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


@functools.cache
def _texts() -> dict[str, str]:
    """What is tracked by its name; a picture is no text, and holds any letters by chance."""
    files = {path: path.read_bytes() for path in _tracked() if path.is_file()}
    return {
        str(path.relative_to(ROOT)): body.decode("utf-8", errors="replace")
        for path, body in files.items()
        if b"\0" not in body
    }


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_says(what):
    pattern = re.compile(FORBIDDEN[what])
    said = {name: found[0] for name, text in _texts().items() if (found := pattern.search(text))}
    assert said == {}


def test_no_lock_of_another_tool_is_tracked():
    names = {path.name for path in _tracked()}
    assert names & {"uv.lock", "poetry.lock", "pylock.toml", "package-lock.json"} == set()
