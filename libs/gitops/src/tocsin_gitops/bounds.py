"""How far a value may move: each bound says what is wrong with a new value, or nothing."""

import re
from collections.abc import Callable
from decimal import Decimal
from difflib import SequenceMatcher

from pydantic import BaseModel, ConfigDict, Field

from tocsin_contracts import Tree
from tocsin_gitops import images, programs, promql, quantity, scripts

_PORT_NAME = re.compile(r"(?=.*[a-z])[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?")
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_HTTP_PATH = re.compile(r"/[!-~]{0,255}")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_ALIKE = 0.8
_HIGHEST_PORT = 65535
_LONGEST_TEXT = 1024


class Limits(BaseModel):
    """The numbers of the policy; an operator may set each of them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_files: int = Field(default=3, ge=1)
    max_changed_lines: int = Field(default=40, ge=1, description="Removed and added, in all.")
    max_file_bytes: int = Field(default=256 * 1024, ge=1)
    max_memory_factor: int = Field(default=4, ge=1, description="Times the old value, either way.")
    max_cpu_factor: int = Field(default=4, ge=1, description="Times the old value, either way.")
    max_replica_factor: int = Field(default=2, ge=1, description="Times the old value.")
    max_new_replicas: int = Field(default=5, ge=1, description="Where there were none.")
    max_storage_factor: int = Field(default=4, ge=1, description="Times the old size.")
    max_new_cpu: str = Field(default="2", description="Where none was asked for.")
    max_new_memory: str = Field(default="4Gi", description="Where none was asked for.")
    denied_kinds: tuple[str, ...] = Field(default=(), description="On top of those never written.")


Bound = Callable[[Tree, Tree, Limits], str]


def memory(old: Tree, new: Tree, limits: Limits) -> str:
    """Memory moves by a factor at most, up or down."""
    return _within(old, new, limits.max_memory_factor)


def cpu(old: Tree, new: Tree, limits: Limits) -> str:
    """CPU moves by a factor at most, up or down."""
    return _within(old, new, limits.max_cpu_factor)


def replicas(old: Tree, new: Tree, limits: Limits) -> str:
    """At least one, at most a factor of what there was."""
    if not _whole(old) or not _whole(new):
        return f"{new!r} is no number of replicas in place of {old!r}"
    most = int(str(old)) * limits.max_replica_factor or limits.max_new_replicas
    return "" if 1 <= int(str(new)) <= most else f"{new} is not between 1 and {most}"


def most_replicas(old: Tree, new: Tree, limits: Limits) -> str:
    """As replicas; of few there may be as many as where there were none."""
    few = _whole(old) and _whole(new) and 1 <= int(str(new)) <= limits.max_new_replicas
    return "" if few else replicas(old, new, limits)


def image(old: Tree, new: Tree, _: Limits) -> str:
    """Registry and repository stay; the tag or digest may change."""
    before, after = images.parse(str(old)), images.parse(str(new))
    if not isinstance(new, str) or not after.sound:
        return f"{new!r} names no image by tag or digest"
    return "" if before.name == after.name else f"{after.name!r} is another image than before"


def tag(_old: Tree, new: Tree, _: Limits) -> str:
    """A tag that registries accept."""
    good = isinstance(new, str) and images.Image("x", tag=new).sound
    return "" if good else f"{new!r} is no image tag"


def digest(_old: Tree, new: Tree, _: Limits) -> str:
    """A SHA-256 digest."""
    good = isinstance(new, str) and images.Image("x", digest=new).sound
    return "" if good else f"{new!r} is no image digest"


def port(_old: Tree, new: Tree, _: Limits) -> str:
    """A port number, or the name of a port."""
    number = _whole(new) and 1 <= int(str(new)) <= _HIGHEST_PORT
    named = isinstance(new, str) and _PORT_NAME.fullmatch(new) is not None
    return "" if number or named else f"{new!r} is no port"


def http_path(_old: Tree, new: Tree, _: Limits) -> str:
    """An absolute path on the same host."""
    good = isinstance(new, str) and _HTTP_PATH.fullmatch(new)
    return "" if good else f"{new!r} is no path"


def count(_old: Tree, new: Tree, _: Limits) -> str:
    """A probe's seconds or attempts: up to an hour."""
    most = 3600
    good = _whole(new) and 0 <= int(str(new)) <= most
    return "" if good else f"{new!r} is not a number up to {most}"


def label(_old: Tree, new: Tree, _: Limits) -> str:
    """A label value."""
    good = isinstance(new, str) and _LABEL.fullmatch(new)
    return "" if good else f"{new!r} is no label value"


def text(_old: Tree, new: Tree, _: Limits) -> str:
    """One line of text that can be seen."""
    good = isinstance(new, str) and new.isprintable() and len(new) <= _LONGEST_TEXT
    return "" if good else f"{new!r} is not one line of text"


def env_name(_old: Tree, new: Tree, _: Limits) -> str:
    """The name of an environment variable."""
    good = isinstance(new, str) and _ENV_NAME.fullmatch(new)
    return "" if good else f"{new!r} is no name of a variable"


def name(_old: Tree, new: Tree, _: Limits) -> str:
    """The name of an object."""
    good = isinstance(new, str) and _NAME.fullmatch(new)
    return "" if good else f"{new!r} is no name of an object"


def alike(old: Tree, new: Tree, limits: Limits) -> str:
    """Nearly the same name: what was misspelt, and not another account with other rights."""
    likeness = SequenceMatcher(None, str(old), str(new), autojunk=False).ratio()
    return name(old, new, limits) or ("" if likeness >= _ALIKE else f"{new!r} is not like {old!r}")


def key(_old: Tree, new: Tree, _: Limits) -> str:
    """A key of a ConfigMap or a Secret."""
    good = isinstance(new, str) and _KEY.fullmatch(new)
    return "" if good else f"{new!r} is no key"


def start(old: Tree, new: Tree, _: Limits) -> str:
    """A word of how a container is started: a slip of a known program, or what closes nothing."""
    texts = isinstance(old, str) and isinstance(new, str)
    shorter = scripts.closed(str(old)) if texts else None
    good = texts and (programs.is_respelt(str(old), str(new)) or (shorter and shorter[0] == new))
    return "" if good else f"{new!r} does more than to put a slip in {old!r} right"


def expression(old: Tree, new: Tree, _: Limits) -> str:
    """The same division, with the sums that make one series match one."""
    good = isinstance(old, str) and new is not None and promql.summed(old) == new
    return "" if good else f"{new!r} is not just {old!r} with sums"


def storage(old: Tree, new: Tree, limits: Limits) -> str:
    """Room for files grows, by a factor at most: it never shrinks."""
    why = _within(old, new, limits.max_storage_factor)
    return why or ("" if _amount(new) > _amount(old) else f"{new} is not more than {old}")


def scheme(_old: Tree, new: Tree, _: Limits) -> str:
    """How a probe asks."""
    return "" if new in ("HTTP", "HTTPS") else f"{new!r} is neither HTTP nor HTTPS"


def cluster_dns(old: Tree, new: Tree, _: Limits) -> str:
    """Names are asked of the cluster, as pods do unless they are told not to."""
    good = old in ("Default", "None") and new == "ClusterFirst"
    return "" if good else f"{new!r} in place of {old!r} is not the cluster's DNS"


def access_mode(old: Tree, new: Tree, _: Limits) -> str:
    """A claim asks for less: by one node at a time, in place of many."""
    good = old == "ReadWriteMany" and new == "ReadWriteOnce"
    return "" if good else f"{new!r} is not less than {old!r}"


def protocol(_old: Tree, new: Tree, _: Limits) -> str:
    """What a port speaks."""
    return "" if new in ("TCP", "UDP", "SCTP") else f"{new!r} is no protocol"


def off(_old: Tree, new: Tree, _: Limits) -> str:
    """What was stopped goes on."""
    return "" if new is False else f"{new!r} is not false"


def available(old: Tree, new: Tree, _: Limits) -> str:
    """One pod fewer that has to stay, and never none."""
    numbers = _whole(old) and _whole(new)
    good = numbers and 1 <= int(str(new)) == int(str(old)) - 1
    return "" if good else f"{new!r} is not one less than {old!r}, or nothing is left"


def unavailable(_old: Tree, new: Tree, _: Limits) -> str:
    """One pod at a time."""
    return "" if _whole(new) and new == 1 else f"{new!r} is not 1"


def _within(old: Tree, new: Tree, factor: int) -> str:
    try:
        before, after = _amount(old), _amount(new)
    except quantity.NotAQuantity as error:
        return str(error)
    if after <= 0 or not before <= after * factor or not after <= before * Decimal(factor):
        return f"{new} is not within {factor} times {old}, up or down"
    return ""


def _amount(value: Tree) -> Decimal:
    if isinstance(value, dict | list):
        raise quantity.NotAQuantity(f"{value!r} is no quantity")
    return quantity.parse(value)


def _whole(value: Tree) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
