"""A Kubernetes API that only shows: discovery, objects and logs, as real clients ask for them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tocsin_cluster import kinds
from tocsin_cluster.api_versions import API_VERSIONS
from tocsin_kit.processes import LOOPBACK

TOKEN = "a-token-that-nobody-may-see"
OK, NOT_FOUND, NOT_ALLOWED = 200, 404, 405
Object = Mapping[str, Any]

_BUILT_IN = (
    *("v1", "apps/v1", "batch/v1", "autoscaling/v2", "policy/v1", "discovery.k8s.io/v1"),
    *("networking.k8s.io/v1", "storage.k8s.io/v1", "scheduling.k8s.io/v1"),
)
_RIGHTS = "rbac.authorization.k8s.io/v1"


def plural(kind: str) -> str:
    """Return what the API calls the objects of a kind."""
    word = kind.lower()
    if word.endswith(("policy", "repository")):
        return f"{word[:-1]}ies"
    return word if word == "endpoints" else f"{word}{'es' if word.endswith('s') else 's'}"


KINDS = {
    version: {kind: plural(kind) for kind, its in API_VERSIONS.items() if its == version}
    for version in _BUILT_IN
}
KINDS["v1"]["Secret"] = "secrets"
KINDS[_RIGHTS] = {"Role": "roles", "RoleBinding": "rolebindings"}
KINDS["authorization.k8s.io/v1"] = {"SelfSubjectAccessReview": "selfsubjectaccessreviews"}
CLUSTER_WIDE = {*kinds.CLUSTER_WIDE, "SelfSubjectAccessReview"}
_DISCOVERY = "APIGroupDiscoveryList"
_ALLOWED = {
    "kind": "SelfSubjectAccessReview",
    "apiVersion": "authorization.k8s.io/v1",
    "spec": {},
    "status": {"allowed": True},
}


@dataclass
class KubeApi:
    """What the API shows, and the paths that it was asked for."""

    objects: Sequence[Object] = ()
    logs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def answer(self, method: str, target: str, accept: str) -> tuple[int, str, str]:
        """Return status, content type and body."""
        url = urlsplit(target)
        self.asked.append(f"{method} {url.path}")
        parts = url.path.strip("/").split("/")
        if parts == ["version"]:
            return _json({"major": "1", "minor": "33", "gitVersion": "v1.33.0"})
        if parts in (["api"], ["apis"]) and _DISCOVERY in accept:
            kind = f"application/json;g=apidiscovery.k8s.io;v=v2;as={_DISCOVERY}"
            return OK, kind, json.dumps(_discovery(core=parts == ["api"]))
        if parts[-1] == "selfsubjectaccessreviews":
            return _json(_ALLOWED, 201)
        if method != "GET":
            return _status(NOT_ALLOWED, "MethodNotAllowed", "nothing can be changed here")
        version, rest = (
            ("v1", parts[2:]) if parts[0] == "api" else ("/".join(parts[1:3]), parts[3:])
        )
        return self._shown(version, rest, parse_qs(url.query))

    def _shown(
        self, version: str, rest: Sequence[str], query: Mapping[str, Sequence[str]]
    ) -> tuple[int, str, str]:
        namespace = ""
        if rest[:1] == ["namespaces"] and rest[2:]:
            namespace, rest = rest[1], rest[2:]
        shown = {its: kind for kind, its in KINDS.get(version, {}).items()}
        if not rest or rest[0] not in shown:
            return _status(NOT_FOUND, "NotFound", "the server has no such resource")
        found = [
            one
            for one in self.objects
            if (one["apiVersion"], one["kind"]) == (version, shown[rest[0]])
            and namespace in ("", one["metadata"].get("namespace", ""))
        ]
        if len(rest) == 1:
            listed = {"kind": f"{shown[rest[0]]}List", "apiVersion": version, "items": found}
            return _json({**listed, "metadata": {"resourceVersion": "1"}})
        named = [one for one in found if one["metadata"]["name"] == rest[1]]
        if not named:
            return _status(NOT_FOUND, "NotFound", f'{rest[0]} "{rest[1]}" not found')
        if rest[2:] == ["log"]:
            return OK, "text/plain", self._log(namespace, rest[1], query)
        return _json(named[0])

    def _log(self, namespace: str, pod: str, query: Mapping[str, Sequence[str]]) -> str:
        lines = self.logs.get((namespace, pod), "").splitlines(keepends=True)
        return "".join(lines[-int(query.get("tailLines", ["1000"])[0]) :])


@contextmanager
def serving(api: KubeApi) -> Iterator[str]:
    """Serve the API on loopback; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            accept = self.headers.get("Accept", "")
            status, kind, body = api.answer(self.command, self.path, accept)
            content = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def log_message(self, *_: object) -> None:
            """What was asked is in the API's own list."""

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def kubeconfig(url: str, file: Path) -> Path:
    """Write how a client reaches the API, with a token that must never be shown."""
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": TOKEN}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
        "current-context": "x",
    }
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def _discovery(*, core: bool) -> Object:
    groups: dict[str, list[Object]] = {}
    for group_version, names in KINDS.items():
        group, _, version = group_version.rpartition("/")
        if (group == "") == core:
            resources = [_resource(group, version, kind, its) for kind, its in names.items()]
            groups.setdefault(group, []).append(
                {"version": version, "freshness": "Current", "resources": resources}
            )
    items = [{"metadata": {"name": name}, "versions": found} for name, found in groups.items()]
    return {"kind": _DISCOVERY, "apiVersion": "apidiscovery.k8s.io/v2", "items": items}


def _resource(group: str, version: str, kind: str, resource: str) -> Object:
    return {
        "resource": resource,
        "responseKind": {"group": group, "version": version, "kind": kind},
        "scope": "Cluster" if kind in CLUSTER_WIDE else "Namespaced",
        "singularResource": kind.lower(),
        "verbs": ["get", "list"],
    }


def _json(content: Object, status: int = OK) -> tuple[int, str, str]:
    return status, "application/json", json.dumps(content)


def _status(code: int, reason: str, message: str) -> tuple[int, str, str]:
    content = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
    return _json({**content, "message": message, "reason": reason, "code": code}, code)
