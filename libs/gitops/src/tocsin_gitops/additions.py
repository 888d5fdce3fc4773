"""What may be added or taken away: each bound says what is wrong with it, or nothing."""

import re
from typing import Any

from tocsin_contracts import Tree
from tocsin_gitops import bounds, quantity
from tocsin_gitops.bounds import Bound, Limits

_KEY = re.compile(r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_FAILS = re.compile(r"/?(?:usr/)?(?:bin/)?false|exit [1-9]\d{0,2}")
_SHELL = re.compile(r"/?(?:usr/)?(?:bin/)?(?:ba|da|a)?sh")
_SYSTEM = re.compile(
    r"/(?:bin|boot|dev|etc|lib|lib64|proc|root|sbin|sys|usr|var/run/secrets)?(?:/.*)?"
)
_OWN = re.compile(r"/(?:[\w.-]{1,64}/){0,8}[\w.-]{1,64}")
_HANDLERS: dict[str, dict[str, Bound]] = {
    "httpGet": {"port": bounds.port, "path": bounds.http_path, "scheme": bounds.scheme},
    "tcpSocket": {"port": bounds.port},
    "grpc": {"port": bounds.port},
}
TIMES = (
    *("initialDelaySeconds", "periodSeconds", "timeoutSeconds"),
    *("successThreshold", "failureThreshold"),
)


def each(bound: Bound) -> Bound:
    """Return the bound of a list of which every item keeps to another one."""

    def items(old: Tree, new: Tree, limits: Limits) -> str:
        if not isinstance(new, list) or not new:
            return f"{new!r} is no list of something"
        return next((why for one in new if (why := bound(old, one, limits))), "")

    items.__name__ = f"each_{bound.__name__}"
    return items


def cpu(_old: Tree, new: Tree, limits: Limits) -> str:
    """An amount of CPU where there was none."""
    return _up_to(new, limits.max_new_cpu)


def memory(_old: Tree, new: Tree, limits: Limits) -> str:
    """An amount of memory where there was none."""
    return _up_to(new, limits.max_new_memory)


def memory_limit(_old: Tree, new: Tree, limits: Limits) -> str:
    """An end to the memory that was without one: some times more, as it only takes away."""
    most = quantity.parse(limits.max_new_memory) * limits.max_memory_factor
    return _up_to(new, str(most))


def env(old: Tree, new: Tree, limits: Limits) -> str:
    """An environment variable with a plain value, never one from a Secret."""
    entry = _exactly(new, "name", "value")
    if not entry:
        return f"{new!r} is no variable with a name and a value"
    return bounds.env_name(old, entry["name"], limits) or bounds.text(old, entry["value"], limits)


def toleration(_old: Tree, new: Tree, _: Limits) -> str:
    """The toleration of one named taint; one without a key would bear them all."""
    entry = new if isinstance(new, dict) else {}
    known = entry.keys() <= {"key", "operator", "value", "effect"}
    key = entry.get("key")
    named = isinstance(key, str) and _KEY.fullmatch(key)
    words = entry.get("operator") in (None, "Equal", "Exists")
    effect = entry.get("effect") in (None, *_EFFECTS)
    value = isinstance(entry.get("value", ""), str)
    good = known and named and words and effect and value
    return "" if good else f"{new!r} does not tolerate one taint"


def empty_volume(_old: Tree, new: Tree, limits: Limits) -> str:
    """A volume that is empty at first and goes with the pod."""
    entry = _exactly(new, "name", "emptyDir")
    inside = entry.get("emptyDir")
    if not isinstance(inside, dict) or not inside.keys() <= {"sizeLimit"}:
        return f"{new!r} is no volume that starts empty on disk"
    if why := bounds.name(None, entry["name"], limits):
        return why
    return _up_to(inside["sizeLimit"], limits.max_new_memory) if inside else ""


def mount(_old: Tree, new: Tree, limits: Limits) -> str:
    """A volume in a place of its own, outside of what the system of the image needs."""
    entry = _exactly(new, "name", "mountPath")
    path = entry.get("mountPath")
    if not isinstance(path, str) or not _OWN.fullmatch(path) or ".." in path:
        return f"{new!r} mounts no volume by name and path"
    if _SYSTEM.fullmatch(path):
        return f"{path!r} belongs to the system of the image"
    return bounds.name(None, entry["name"], limits)


def startup_probe(_old: Tree, new: Tree, limits: Limits) -> str:
    """A probe that waits for the start: one request to the pod itself, and times."""
    probe = new if isinstance(new, dict) else {}
    handlers = [key for key in probe if key not in TIMES]
    if len(handlers) != 1 or handlers[0] not in _HANDLERS:
        return f"{new!r} is no probe with one request and times"
    fields, asked = _HANDLERS[handlers[0]], probe[handlers[0]]
    if not isinstance(asked, dict) or "port" not in asked or not asked.keys() <= fields.keys():
        return f"{asked!r} is no request of a probe to its own pod"
    wrong = [fields[key](None, value, limits) for key, value in asked.items()]
    wrong += [bounds.count(None, probe[key], limits) for key in probe if key in TIMES]
    return next((why for why in wrong if why), "")


def failing_probe(old: Tree, _new: Tree, _: Limits) -> str:
    """A probe may be taken away if its command can only fail, which says nothing of the pod."""
    asked = old.get("exec") if isinstance(old, dict) else None
    command = asked.get("command") if isinstance(asked, dict) else None
    words = [str(word).strip() for word in command] if isinstance(command, list) else []
    shell = words[:-1] and _SHELL.fullmatch(words[0]) and words[1:-1] == ["-c"]
    fails = words and _FAILS.fullmatch(words[-1]) and (shell or not words[1:])
    return "" if fails else f"nobody can tell that {old!r} never passes"


def anything(_old: Tree, _new: Tree, _: Limits) -> str:
    """Whatever it holds, it may go."""
    return ""


def others_left(around: Tree) -> str:
    """Of several conditions one may go, so that something is still asked for."""
    several = isinstance(around, dict) and len(around) > 1
    return "" if several else "nothing would be left that chooses pods"


def _up_to(new: Tree, most: str) -> str:
    if isinstance(new, dict | list):
        return f"{new!r} is no quantity"
    try:
        good = 0 < quantity.parse(new) <= quantity.parse(most)
    except quantity.NotAQuantity as error:
        return str(error)
    return "" if good else f"{new} is not between 0 and {most}"


def _exactly(value: Tree, *keys: str) -> dict[str, Any]:
    """Return a mapping with just these keys; an empty one for anything else."""
    return value if isinstance(value, dict) and value.keys() == set(keys) else {}
