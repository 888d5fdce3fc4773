"""Images that cannot be pulled: which, for whom, and what the registry or the runtime says."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.statements import statements, told

_IMAGE = re.compile(
    r"(?i)(?:failed to pull image|back-off pulling image|container image|image name|unpack image"
    r"|resolve reference|apply default image tag|pulling image"
    r"|inspect image) \\?\"(?P<image>[^\"\\]{1,400})\\?\""
)
_REASONS = frozenset(
    {
        *("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"),
        *("ErrImageInspect", "RegistryUnavailable", "InspectFailed"),
        "FailedToRetrieveImagePullSecret",
    }
)
_STARTS = (
    *("Failed to pull image", "Back-off pulling image", "Failed to inspect image"),
    *("Error: ErrImage", "Error: ImagePullBackOff", "Error: InvalidImageName"),
)


_PASTED = re.compile(
    r"(?s)(?:[Ff]ailed to pull image \\?\"|Failed to apply default image tag"
    r"|Error response from daemon: (?:manifest|pull access|repository|toomany)"
    r"|Error: (?:ErrImage|InvalidImageName|ImagePullBackOff)).{0,800}"
)


class Trouble(Enum):
    """Why a pull fails, in the order in which one explains more than another."""

    PLATFORM = re.compile(
        r"(?i)no match for platform|no matching manifest for|image operating system"
        r"|does not match the specified platform"
    )
    NAME = re.compile(
        r"(?i)invalid reference format|InvalidImageName|couldn't parse image|name unknown"
        r"|NAME_UNKNOWN|NAME_INVALID|repository with name .{0,200}does not exist"
        r"|repository \S{1,200} not found(?!:)|invalid repository name|repository name not known"
        r"|project \S{1,200} not found"
    )
    DNS = re.compile(
        r"(?i)no such host|server misbehaving|name resolution|lookup \S{1,250}: i/o timeout"
        r"|lookup \S{1,200} on \S{1,60} (?:read|i/o|dial)|name or service not known|NXDOMAIN"
    )
    LIMIT = re.compile(r"(?i)toomanyrequests|too many requests|rate limit|\b429\b")
    HIDDEN = re.compile(r"(?i)repository does not exist or may require|insufficient_scope")
    DENIED = re.compile(
        r"(?i)unauthori[sz]ed|authentication required|no basic auth|\b401\b|\b403\b|forbidden"
        r"|denied|authorization failed|failed to authorize|anonymous token|expired token"
        r"|invalid username/password"
    )
    BROKEN = re.compile(
        r"(?i)i/o timeout|deadline exceeded|connection re(?:fused|set)|x509|tls|timeout exceeded"
        r"|server gave HTTP response|\b50[0-4]\b|unexpected EOF|: EOF$|no route to host"
        r"|network is unreachable|no space left|context canceled|bad gateway|proxyconnect"
        r"|service unavailable|internal server error|pull policy of never|ErrImageNeverPull"
    )
    ABSENT = re.compile(
        r"(?i)manifest unknown|manifest for \S+ not found|: not found|code = NotFound|\b404\b"
        r"|MANIFEST_UNKNOWN|tag \S{1,130} (?:was )?not found|no such image"
    )
    SECRET = re.compile(
        r"(?i)unable to retrieve some image pull secrets|FailedToRetrieveImagePullSecret"
    )
    UNSAID = re.compile(r"")


@dataclass(frozen=True, slots=True)
class FailedPull:
    """A pod whose image cannot be pulled; `image` is empty where nothing names it."""

    image: str
    about: ObjectRef | None
    trouble: Trouble
    said: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Message:
    image: str
    said: str
    id: str

    @property
    def trouble(self) -> Trouble:
        return next(one for one in Trouble if one.value.search(self.said))


def failed_pulls(case: Case) -> tuple[FailedPull, ...]:
    """Return the failed pull of each pod, with what explains most of what was said of it."""
    groups: dict[ObjectRef | None, list[_Message]] = {}
    for about, message in tuple(_messages(case)) or tuple(_pasted(case)):
        groups.setdefault(about, []).append(message)
    return tuple(_judged(about, told) for about, told in groups.items())


def _judged(about: ObjectRef | None, told: list[_Message]) -> FailedPull:
    troubles = [message.trouble for message in told]
    worst = next(one for one in Trouble if one in troubles)
    if worst in (Trouble.HIDDEN, Trouble.DENIED) and Trouble.SECRET in troubles:
        worst = Trouble.SECRET
    proof = [message for message in told if message.trouble is worst]
    image = next((message.image for message in (*proof, *told) if message.image), "")
    ids = tuple(dict.fromkeys(message.id for message in proof))
    return FailedPull(image, about, worst, proof[0].said, ids)


def _messages(case: Case) -> Iterator[tuple[ObjectRef | None, _Message]]:
    for one in statements(case):
        if one.text.startswith(_STARTS) or one.reason in _REASONS:
            found = _IMAGE.search(one.text)
            image = found["image"] if found else ""
            yield one.about, _Message(image, f"{one.reason}: {one.text}", one.id)
    for pod in (*case.pods, *case.objects("Pod")):
        for section in ("containerStatuses", "initContainerStatuses"):
            for status in pod.data.items("status", section):
                if message := _unexplained(pod, status):
                    yield pod.data.ref, message


def _pasted(case: Case) -> Iterator[tuple[ObjectRef | None, _Message]]:
    """What texts say that are no events, where nothing else speaks of a pull."""
    for one in told(case, _PASTED):
        said = " ".join(one.match.group().split())
        found = _IMAGE.search(said)
        if one.about is None:
            yield None, _Message(found["image"] if found else "", said, one.id)


def _unexplained(pod: Observation[Manifest], status: Mapping[str, Any]) -> _Message | None:
    waiting = dig(status, "state", "waiting") or {}
    reason = str(waiting.get("reason") or "").removeprefix("Init:")
    if reason not in _REASONS or waiting.get("message"):
        return None
    own = pod.data.container(str(status.get("name")))
    return _Message(str(own.raw.get("image") or "") if own else "", reason, pod.id)
