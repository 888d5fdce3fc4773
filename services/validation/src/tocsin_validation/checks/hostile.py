"""Does the change open a door that was shut?"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tocsin_contracts import CheckResult, CheckSeverity, EndReason, FailureCode
from tocsin_gitops import images, manifests, trees
from tocsin_gitops.editing import EditRefused
from tocsin_gitops.splice import decode
from tocsin_gitops.yaml_nodes import documents
from tocsin_validation.checks.verdicts import failed, passed, unknown
from tocsin_validation.ports import Consequence, Proposed

_SWITCHES = (
    *("privileged", "hostNetwork", "hostPID", "hostIPC", "allowPrivilegeEscalation"),
    "automountServiceAccountToken",
)
_GRANTS = ("verbs", "resources", "apiGroups", "nonResourceURLs")
_SOCKETS = ("docker.sock", "containerd.sock", "crio.sock")


class NothingHostile:
    """No way out of a container, no image from elsewhere, no right to everything: none that is new.

    What the file holds already is not the change's doing. An image that an edit sets is for the
    policy to judge: it knows what the commit did that it undoes.
    """

    name = "no-hostile-manifest"
    severity = CheckSeverity.CRITICAL
    needs = "the files before and after"
    consequence = Consequence.ESCALATE
    reason = EndReason.POLICY_DENIED
    code = FailureCode.UNSAFE
    action = "find out who asked for this, and do not merge it"

    def run(self, change: Proposed) -> CheckResult:
        """Compare the signs in each document before and after."""
        opened: list[str] = []
        judged = {_image(edit.new) for edit in change.edits if edit.path[-1:] == ("image",)}
        for file, data in change.after.items():
            if not manifests.is_yaml(file):
                continue
            try:
                old = Counter(_signs(_trees(file, change.before.get(file, b""))))
                opened += (Counter(_signs(_trees(file, data))) - old).elements()
            except EditRefused as refused:
                return unknown(self.name, f"{file} cannot be read as a whole: {refused}")
        opened = sorted(set(opened) - judged)
        if opened:
            return failed(self.name, f"it brings {', '.join(opened)}")
        return passed(self.name, "no way out of a container, other image or right to everything")


def _trees(file: str, data: bytes) -> list[Any]:
    """Everything the file says, whether it is an object or the values of a chart."""
    return [trees.read(root) for root in documents(decode(data)[1])] if data else []


def _signs(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _signs(one)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _sign(str(key), inner)
            yield from _signs(inner)
    elif isinstance(value, str) and value.endswith(_SOCKETS):
        yield f"the socket {value}"


def _sign(key: str, value: Any) -> Iterator[str]:
    if key in _SWITCHES and value is True:
        yield f"{key}: true"
    elif key == "hostPath" and value:
        yield "a hostPath volume"
    elif key == "hostPort" and value:
        yield f"hostPort {value}"
    elif key == "add" and isinstance(value, list) and all(isinstance(v, str) for v in value):
        yield from (f"the capability {one}" for one in value)
    elif key == "image" and isinstance(value, str):
        yield _image(value)
    else:
        yield from _right(key, value)


def _image(value: Any) -> str:
    return f"the image {images.parse(str(value)).name}"


def _right(key: str, value: Any) -> Iterator[str]:
    if key in _GRANTS and isinstance(value, list):
        yield from (f"the wildcard {key}: *" for one in value if one == "*")
    elif key == "roleRef" and isinstance(value, Mapping) and value.get("name") == "cluster-admin":
        yield "the role cluster-admin"
