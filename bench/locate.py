"""What finding the place of a change costs in a large repository, beside reading its files at all.

Run it with `python bench/locate.py`: a repository of 3,000 services, each with a base, an overlay
and a patch, is made, read at its head through git, and asked for one field of one of them.
"""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from tocsin_contracts import FieldChange, ObjectRef
from tocsin_gitops.config import Repository
from tocsin_gitops.locate import Located, locate
from tocsin_gitops.placements import Checkout
from tocsin_gitops.source import LocalGitSource

SERVICES, ROUNDS = 3000, 3
CONTAINER = ("spec", "template", "spec", "containers", "[name=app]", "resources", "limits")
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels: {{app: {name}}}
spec:
  replicas: 2
  selector:
    matchLabels: {{app: {name}}}
  template:
    metadata:
      labels: {{app: {name}}}
    spec:
      containers:
        - name: app
          image: registry.example/{name}:1.2.3
          ports:
            - containerPort: 8080
          resources:
            requests: {{cpu: 100m, memory: 64Mi}}
            limits: {{memory: 128Mi}}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata:
  name: {name}
spec:
  selector: {{app: {name}}}
  ports:
    - port: 80
"""
PATCH = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
spec:
  template:
    spec:
      containers:
        - name: app
          resources:
            limits: {{memory: 256Mi}}
"""
BASE = "resources:\n  - deployment.yaml\n  - service.yaml\n"
OVERLAY = "namespace: prod\nresources:\n  - ../../base\npatches:\n  - path: memory.yaml\n"
CHANGE = FieldChange(
    object=ObjectRef(kind="Deployment", namespace="prod", name="service-01500"),
    path=(*CONTAINER, "memory"),
    old="256Mi",
    new="512Mi",
)


def contents() -> Iterator[tuple[str, str]]:
    for number in range(SERVICES):
        name = f"service-{number:05}"
        yield f"apps/{name}/base/kustomization.yaml", BASE
        yield f"apps/{name}/base/deployment.yaml", DEPLOYMENT.format(name=name)
        yield f"apps/{name}/base/service.yaml", SERVICE.format(name=name)
        yield f"apps/{name}/prod/kustomization.yaml", OVERLAY.replace("../../base", "../base")
        yield f"apps/{name}/prod/memory.yaml", PATCH.format(name=name)


def repository(folder: Path) -> Repository:
    """Make a bare repository with one commit."""
    git_dir = folder / "platform.git"
    subprocess.run(("git", "init", "-q", "--bare", "-b", "main", str(git_dir)), check=True)
    head = "commit refs/heads/main\ncommitter bench <bench@example.com> 1750000000 +0000\n"
    files = (f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in contents())
    stream = f"{head}data 5\nfirst\n{''.join(files)}"
    command = ("git", "-C", str(git_dir), "fast-import", "--quiet")
    subprocess.run(command, input=stream.encode(), check=True)
    return Repository(name="bench/platform", git_dir=git_dir, paths=("**",))


def read(repo: Repository) -> dict[str, bytes]:
    async def all_files() -> dict[str, bytes]:
        source = LocalGitSource()
        files = await source.files(repo, await source.head(repo))
        return {path: file.data for path, file in files.items()}

    return asyncio.run(all_files())


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of this process and of those that it has waited for."""
    before = sum(os.times()[:4])
    work()
    return sum(os.times()[:4]) - before


def changed(files: dict[str, bytes], number: int) -> dict[str, bytes]:
    """Return files that nobody has read before."""
    return {path: data + f"# {number}\n".encode() for path, data in files.items()}


def found(files: dict[str, bytes]) -> None:
    result = locate(files, CHANGE)
    if not isinstance(result, Located):
        raise SystemExit(f"not found: {result.sentence}")


def leading(files: dict[str, bytes]) -> None:
    checkout = Checkout(files)
    for file in files:
        checkout.leading_to(file)


def measure(repo: Repository) -> None:
    files = read(repo)
    measured: dict[str, list[float]] = {}
    for number in range(ROUNDS):
        files = changed(files, number)
        rows = (
            ("reading the files", partial(read, repo)),
            ("the first question", partial(found, files)),
            ("one more question", partial(found, files)),
            ("who deploys each file", partial(leading, files)),
        )
        for name, work in rows:
            measured.setdefault(name, []).append(seconds(work))
    floor = median(measured["reading the files"])
    for name, times in measured.items():
        print(f"| {name} | {median(times):.2f} s | {median(times) / floor:.1f} |")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        measure(repository(Path(folder)))
