"""What the schema of a cluster's version says about an object: every fault, not just the first."""

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import Draft202012Validator
from kubernetes_validate import utils
from referencing import Registry, Resource

_FOLDER = "kubernetes-json-schema/v{version}-local-strict"
_VERSION = re.compile(r"v?(\d+)\.(\d+)")
_GO_ONLY = ("pattern", "format")
"""What a cluster understands in its own way: it is for the cluster to judge."""

_ELSEWHERE = ("$ref", "$dynamicRef", "$recursiveRef", "$schema", "$id")
"""What would lead out of a definition, which no cluster allows: nothing is ever fetched."""

Faults = frozenset[str]


@functools.cache
def versions() -> tuple[str, ...]:
    """Return the versions that there are schemas of, the oldest first, such as 1.31.0."""
    return tuple(dict.fromkeys(utils.all_versions()))


def version_for(told: str) -> str:
    """Return the newest version that is not newer than a cluster's; without one the newest."""
    wanted = number(told)
    older = [one for one in versions() if not wanted or number(one) <= wanted]
    return older[-1] if older else versions()[0]


def is_known(api_version: str, kind: str, version: str) -> bool:
    """Whether objects of this kind come with the cluster itself."""
    return _validator(api_version, kind, version) is not None


def faults(raw: Mapping[str, Any], version: str) -> Faults | None:
    """Return what is wrong with an object; None if its kind does not come with the cluster."""
    validator = _validator(str(raw.get("apiVersion")), str(raw.get("kind")), version)
    return None if validator is None else frozenset(_told(validator, raw))


def faults_of_custom(raw: Mapping[str, Any], schema: Mapping[str, Any]) -> Faults | None:
    """Return what is wrong with a custom resource, by the schema that its definition holds.

    None if that is no schema.
    """
    plain = _plain(schema)
    try:
        Draft202012Validator.check_schema(plain)
    except SchemaError:
        return None
    return frozenset(_told(Draft202012Validator(plain, registry=Registry()), raw))


def number(version: str) -> tuple[int, ...]:
    """Return a version as numbers that compare; empty for what is none."""
    found = _VERSION.match(version)
    return tuple(map(int, found.groups())) if found else ()


@functools.lru_cache(maxsize=256)
def _validator(api_version: str, kind: str, version: str) -> Draft202012Validator | None:
    group = re.sub(r"^([^./]*)(?:\.[^/]*)?/", r"\1-", api_version)
    if not re.fullmatch(r"[a-z0-9-]+", group) or not kind.isalnum():
        return None
    try:
        schema = _file(version, f"{kind.lower()}-{group}")
    except FileNotFoundError:
        return None
    registry = Resource.from_contents(schema) @ _definitions(version)
    return Draft202012Validator(schema, registry=registry)


@functools.lru_cache(maxsize=4)
def _definitions(version: str) -> "Registry[Any]":
    found: Registry[Any] = Registry()
    return Resource.from_contents(_file(version, "_definitions")) @ found


def _file(version: str, name: str) -> Any:
    return utils.schema_contents(f"{_FOLDER.format(version=version)}/{name}.json", version)


def _told(validator: Draft202012Validator, raw: Mapping[str, Any]) -> Iterator[str]:
    for error in validator.iter_errors(raw):
        where = ".".join(map(str, error.absolute_path)) or "the object"
        yield f"{where}: {error.message[:200]}"


def _plain(schema: Any) -> Any:
    """Return a schema of a definition in the words of JSON Schema."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    kept = {key: value for key, value in schema.items() if not _is_left_out(key, value)}
    if kept.get("x-kubernetes-int-or-string") is True:
        kept |= {"type": ["integer", "string"]}
        kept.pop("anyOf", None)
    if kept.get("nullable") is True and isinstance(kept.get("type"), str):
        kept["type"] = [kept["type"], "null"]
    return {key: _plain(value) for key, value in kept.items()}


def _is_left_out(key: str, value: Any) -> bool:
    """Fields that a resource calls so have schemas of their own, and stay."""
    if key == "patternProperties":
        return True
    return key in (*_GO_ONLY, *_ELSEWHERE) and isinstance(value, str)
