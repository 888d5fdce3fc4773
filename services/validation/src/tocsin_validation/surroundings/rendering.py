"""What kustomize makes of the changed files: in a throw-away folder, with no way out of it."""

import asyncio
import contextlib
import os
import re
import resource
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from tocsin_contracts import FailureCode
from tocsin_gitops import kustomize, manifests
from tocsin_gitops.kustomize import Kustomization
from tocsin_gitops.placements import Checkout
from tocsin_gitops.yaml_nodes import walk
from tocsin_kit import children
from tocsin_kit.untrusted import line
from tocsin_validation.facts import Rendered
from tocsin_validation.surroundings.asked import NotTold

MOST_ROOTS = 8
MOST_FILES = 2000
MOST_BYTES = 32 * 1024**2
MOST_MEMORY = 4 * 1024**3
_PIECE = 64 * 1024
_BETWEEN = re.compile(r"[\s'\"\[\]{},=]+")
_RUN = frozenset({"generators", "transformers", "validators"})
_NOWHERE = "http://127.0.0.1:9"
_CLOSED = {
    "PATH": "",
    "GIT_TERMINAL_PROMPT": "0",
    "KUBERC": "off",
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _NOWHERE),
}
"""Nothing else can be started, and what is asked of the network ends at a closed door."""


def found(name: str = "kubectl") -> str:
    """Return where that binary is, on the path or beside this Python; empty for nowhere."""
    beside = str(Path(sys.executable).parent)
    return shutil.which(name, path=os.pathsep.join((os.environ.get("PATH", ""), beside))) or ""


async def render(kubectl: str, files: Mapping[str, bytes], after: Mapping[str, bytes]) -> Rendered:
    """Build what deploys the changed files before and after; NotTold if the first cannot be built.

    A kustomization that takes anything from elsewhere is never built: nothing is fetched.
    """
    roots, needed = await asyncio.to_thread(_needed, files, after)
    if not roots:
        return Rendered()
    if not kubectl:
        raise NotTold("there is no kubectl to render with", FailureCode.MISSING_TOOL)
    with tempfile.TemporaryDirectory(prefix="tocsin-render-") as folder:
        place = Path(folder, "repository")
        await asyncio.to_thread(write, place, needed)
        before = {root: await _built(kubectl, place, root) for root in roots}
        await asyncio.to_thread(write, place, after)
        try:
            changed = {root: await _built(kubectl, place, root) for root in roots}
        except NotTold as failed:
            return Rendered(before=before, fault=str(failed))
    return Rendered(before=before, after=changed)


def _needed(
    files: Mapping[str, bytes], after: Mapping[str, bytes]
) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """Return the folders that deploy the changed files, and every file they may use."""
    checkout = Checkout(files)
    roots = tuple(sorted(_roots(checkout, after.keys())))
    if not roots and any(_uses(checkout, one, after) for one in checkout.kustomizations.values()):
        raise NotTold("only kustomizations use it of which none is deployed by itself", _FAILED)
    if checkout.unreadable:
        name = next(iter(checkout.unreadable))
        raise NotTold(f"{name} cannot be read, so it is not known what uses the file", _FAILED)
    if len(roots) > MOST_ROOTS:
        raise NotTold(f"{len(roots)} deployments use the file: too many to render", _FAILED)
    used = {path for root in roots for path in _used(checkout, checkout.kustomizations[root])}
    layers = [checkout.kustomizations[path] for path in used if path in checkout.kustomizations]
    if away := next((one.file for one in layers if _leads_away(one)), ""):
        why = f"{away} may take something from elsewhere, which is never fetched"
        raise NotTold(why, FailureCode.UNSUPPORTED)
    needed = {path: data for path, data in files.items() if _is_below(path, used)}
    if len(needed) > MOST_FILES:
        raise NotTold(f"{len(needed)} files would have to be written", _FAILED)
    return roots, needed


_FAILED = FailureCode.RENDER_FAILED


def _roots(checkout: Checkout, changed: Collection[str]) -> Iterator[str]:
    layers = checkout.kustomizations
    used = {path for layer in layers.values() for path in layer.uses}
    for folder, layer in layers.items():
        if folder not in used and not layer.component and _uses(checkout, layer, changed):
            yield folder


def _uses(checkout: Checkout, layer: Kustomization, changed: Collection[str]) -> bool:
    own = {manifests.folder(path) for path in changed if manifests.is_kustomization(path)}
    return not _used(checkout, layer).isdisjoint({*changed, *own})


def _used(checkout: Checkout, start: Kustomization) -> set[str]:
    """Return every folder and file that a kustomization uses, itself among them."""
    reached, waiting = {start.folder}, [start]
    while waiting:
        new = set(waiting.pop().uses) - reached
        waiting += [checkout.kustomizations[p] for p in new if p in checkout.kustomizations]
        reached |= new
    return reached


def _leads_away(layer: Kustomization) -> bool:
    """Whether anything in a kustomization may be taken from outside of the repository.

    What is judged is what its YAML means, so that no escape hides a URL; files that it has run
    could name others of any kind.
    """
    keys = {key.value for key, _ in layer.document.node.pairs}
    texts = [node.value for node in walk(layer.document.node)]
    words = [word for text in texts for word in _BETWEEN.split(text)]
    return (
        bool(keys & _RUN)
        or any(map(kustomize.remote, words))
        or any(path.startswith(("/", "../")) or path == ".." for path in layer.uses)
    )


def _is_below(path: str, used: Collection[str]) -> bool:
    way = PurePosixPath(path)
    if way.is_absolute() or ".." in way.parts:
        return False
    return path in used or any(str(parent) in used for parent in way.parents)


def write(place: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder."""
    for path, data in files.items():
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


async def _built(kubectl: str, place: Path, root: str) -> str:
    return await printed((kubectl, "kustomize", str(place / root)), place, root)


async def printed(command: Sequence[str], place: Path, root: str) -> str:
    """Return what a command prints that may reach nothing else; NotTold if it fails.

    NotTold as well if it prints without end. What it may use of memory is bounded.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        env=_CLOSED | {"HOME": str(place.parent / "nobody"), "TMPDIR": str(place.parent)},
        cwd=place,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _bound(process.pid)
        text, wrong = await asyncio.gather(
            _most(process.stdout, process), _most(process.stderr, process)
        )
        await process.wait()
    finally:
        await children.end(process)
    if max(len(text), len(wrong)) > MOST_BYTES:
        raise NotTold(f"more than {MOST_BYTES >> 20} MiB are rendered", _FAILED)
    if process.returncode:
        told = wrong.decode(errors="replace").replace(f"{place}/", "")
        raise NotTold(f"{root} cannot be built: {line(told, 300)}", _FAILED)
    return text.decode(errors="replace")


async def _most(stream: asyncio.StreamReader | None, process: asyncio.subprocess.Process) -> bytes:
    """Read to the end what a process prints; one that prints too much is killed."""
    found = bytearray()
    while stream and (piece := await stream.read(_PIECE)):
        if len(found) <= MOST_BYTES:
            found += piece
        elif process.returncode is None:
            process.kill()
    return bytes(found)


def _bound(pid: int) -> None:
    """Let a template that asks for all memory end itself, and not its neighbours."""
    if sys.platform == "linux":
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
