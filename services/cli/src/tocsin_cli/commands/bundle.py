"""`tocsin bundle collect`: save what a diagnosis needs of a live cluster, without any secret."""

import json
import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from tocsin_kit.errors import PermanentError
from tocsin_kit.redaction import Redactor

_SECONDS = 120.0
_TAIL = "500"
KINDS = (
    *("pods", "deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "cronjobs"),
    *("services", "endpoints", "configmaps", "serviceaccounts", "roles", "rolebindings"),
    *("resourcequotas", "limitranges", "horizontalpodautoscalers", "poddisruptionbudgets"),
    *("persistentvolumeclaims", "networkpolicies", "ingresses", "events"),
)
CLUSTER_WIDE = (
    *("nodes", "namespaces", "persistentvolumes", "storageclasses", "ingressclasses"),
    "priorityclasses",
)
CUSTOM = (
    "prometheusrules.monitoring.coreos.com",
    "applications.argoproj.io",
    "kustomizations.kustomize.toolkit.fluxcd.io",
    "helmreleases.helm.toolkit.fluxcd.io",
    "gateways.gateway.networking.k8s.io",
    "httproutes.gateway.networking.k8s.io",
    "virtualservices.networking.istio.io",
    "destinationrules.networking.istio.io",
)
_KEYS = (
    "-o=go-template={{range .items}}{{.metadata.namespace}} {{.metadata.name}} {{.type}}"
    "{{range $key, $value := .data}} {{$key}}{{end}}\n{{end}}"
)
"""Only names and keys of Secrets leave kubectl."""


def collect(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder for the bundle.")],
    namespace: Annotated[
        list[str] | None,
        typer.Option("--namespace", "-n", help="Only these namespaces; repeatable. Default: all."),
    ] = None,
    kubectl: Annotated[
        str, typer.Option(help="How kubectl is called: 'kubectl --context prod'.")
    ] = "kubectl",
) -> None:
    """Ask the cluster of the current context through kubectl, and save a bundle of the answers."""
    if out.exists():
        raise PermanentError(f"{str(out)!r} is there already; name a new folder")
    collector = _Collector(out, shlex.split(kubectl) or [kubectl])
    scopes: list[tuple[str, ...]] = [("-n", one) for one in namespace or ()] or [("-A",)]
    for kind in CLUSTER_WIDE:
        collector.objects(kind)
    for scope in scopes:
        for kind in (*KINDS, *CUSTOM):
            collector.objects(kind, *scope)
        collector.secrets(*scope)
        collector.text("top", "pods", "--containers", *scope)
    collector.text("top", "nodes")
    collector.logs()
    refused = [f"not saved: {', '.join(what)}: {why}" for why, what in collector.refused.items()]
    if not collector.saved:
        raise PermanentError("\n".join(("there was nothing to save", *refused)))
    for line in (f"{out}: {collector.saved} files", *refused):
        typer.echo(line)


_FORBIDDEN = "(Forbidden)"
_UNKNOWN_KIND = "doesn't have a resource type"
"""What a cluster says of a kind that nobody installed: there is nothing to save then."""


class _Collector:
    """Saves answers; what kubectl refuses is told at the end and is no error."""

    def __init__(self, folder: Path, kubectl: Sequence[str]) -> None:
        self._folder = folder
        self._kubectl = kubectl
        self._answered = False
        self._pods: list[Mapping[str, Any]] = []
        self.saved = 0
        self.refused: dict[str, list[str]] = {}

    def objects(self, kind: str, *scope: str) -> None:
        """Save the objects of a kind."""
        answer = self._ask("get", kind, *scope, "-o", "json")
        items = json.loads(answer).get("items") if answer else None
        if items:
            self._write(f"{'_'.join((kind, *scope[1:]))}.json", answer or "")
            self._pods += items if kind == "pods" else ()

    def secrets(self, *scope: str) -> None:
        """Save which Secrets there are, and which keys they have."""
        answer = self._ask("get", "secrets", *scope, _KEYS) or ""
        secrets = [_secret(*line.split()) for line in answer.splitlines() if line.strip()]
        if secrets:
            listed = {"apiVersion": "v1", "kind": "List", "items": secrets}
            self._write(f"{'_'.join(('secrets', *scope[1:]))}.json", json.dumps(listed))

    def text(self, *arguments: str) -> None:
        """Save what a command prints."""
        answer = self._ask(*arguments)
        if answer:
            command = f"kubectl {' '.join(arguments)}"
            self._write(f"{command}.txt", f"$ {command}\n{answer}")

    def logs(self) -> None:
        """Save the logs of containers that are not ready or were started again."""
        for pod, container, previous in _wanted(self._pods):
            namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
            more = ("--previous",) if previous else ()
            which = ("logs", name, "-n", namespace, "-c", container, "--tail", _TAIL, *more)
            answer = self._ask(*which)
            if answer:
                file = f"{container}.previous.log" if previous else f"{container}.log"
                self._write(f"logs/{namespace}/{name}/{file}", Redactor().text(answer))

    def _ask(self, *arguments: str) -> str | None:
        try:
            done = subprocess.run(
                [*self._kubectl, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_SECONDS,
            )
        except FileNotFoundError as error:
            raise PermanentError(
                f"there is no {self._kubectl[0]!r} on PATH; --kubectl says how it is called"
            ) from error
        except subprocess.TimeoutExpired:
            self._refuse(arguments, f"no answer in {_SECONDS:g} s")
            return None
        self._answered |= not done.returncode or _FORBIDDEN in done.stderr
        if not done.returncode:
            return done.stdout
        if _UNKNOWN_KIND not in done.stderr or arguments[1] not in CUSTOM:
            self._refuse(arguments, (done.stderr.strip().splitlines() or ["failed"])[-1])
        return None

    def _refuse(self, arguments: Sequence[str], why: str) -> None:
        if not self._answered:
            command = shlex.join([*self._kubectl, *arguments[:2]])
            raise PermanentError(f"the cluster does not answer `{command}`: {why}")
        words = [word for word in arguments[:4] if word not in ("-o", "json", _KEYS)]
        self.refused.setdefault(why, []).append(" ".join(words))

    def _write(self, name: str, text: str) -> None:
        path = self._folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise PermanentError(f"cannot write {str(path)!r}: {error.strerror}") from error
        self.saved += 1


def _secret(namespace: str, name: str, kind: str, *keys: str) -> dict[str, Any]:
    metadata = {"namespace": namespace, "name": name}
    return {"kind": "Secret", "type": kind, "metadata": metadata, "data": dict.fromkeys(keys, "")}


def _wanted(pods: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], str, bool]]:
    for pod in pods:
        for status in (pod.get("status") or {}).get("containerStatuses") or ():
            restarts = int(status.get("restartCount") or 0)
            if restarts or not status.get("ready"):
                yield pod, str(status["name"]), False
            if restarts:
                yield pod, str(status["name"]), True
