"""ConfigMaps, Secrets and keys of them that a workload refers to and that do not exist."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tocsin_cluster.manifest import Manifest, dig
from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import proof, sure
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.hearing import heard, quoted, subject
from tocsin_rca.evidence.known import known
from tocsin_rca.evidence.likeness import meant
from tocsin_rca.evidence.mounts import mounted_file
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.references import Reference, references
from tocsin_rca.evidence.remedy import Remedy, with_remedy
from tocsin_rca.evidence.statements import Statement, Told, told

_OBJECT = re.compile(
    r"(?i)(?:^|[\s:])(?P<kind>secret"
    r"|configmap)s? \\?\"(?P<name>[^\"\\]{1,260})\\?\" (?:was )?not found"
)
_KEY = re.compile(
    r"(?i)couldn't find key (?P<key>\S{1,260}) in (?P<kind>secret"
    r"|configmap) (?:\S{1,63}/)?(?P<name>\S{1,253})"
    r"|(?P<kind2>secret|configmap)?[^\n]{0,40}references non-existent (?:secret"
    r"|config) key: (?P<key2>\S{1,260})"
)
_FILE = re.compile(
    r"(?i)(?:open|stat|read|access|load|file"
    r"|find)\S{0,12}:? ['\"]?(?P<path>/[\w./-]{2,200})['\"]?[^\n]{0,30}"
    r"(?:no such file|not found|does not exist|ENOENT)"
    r"|(?:no such file or directory|ENOENT|not found)[^\n/]{0,40}['\"](?P<other>/[\w./-]{2,200})"
)
_CAUSES = {
    ("ConfigMap", False): CauseClass.CONFIGMAP_NOT_FOUND,
    ("ConfigMap", True): CauseClass.CONFIGMAP_KEY_MISSING,
    ("Secret", False): CauseClass.SECRET_NOT_FOUND,
    ("Secret", True): CauseClass.SECRET_KEY_MISSING,
}
_KINDS = {"secret": "Secret", "configmap": "ConfigMap"}
_UNSEEN = ("CreateContainerConfigError", "ContainerCreating", "Init:CreateContainerConfigError")
_TELLING = 2
"""So many keys by the same names are no coincidence."""

_DATA = ("data", "stringData", "binaryData")


@dataclass(frozen=True, slots=True)
class _Missing:
    """What is not there: an object, or where `key` is not empty, a key of one."""

    kind: str
    name: str
    key: str
    told: Told


@dataclass(frozen=True, slots=True)
class _Named:
    """What shows something by that name; of an object the keys, empty if they are not known."""

    ids: tuple[str, ...]
    keys: frozenset[str] = frozenset()


class MissingReference:
    """The kubelet says that a ConfigMap, a Secret or a key of one is not there."""

    name = "reference"
    needs = (
        "The words of the kubelet or the program, what the workload refers to, the ConfigMaps and "
        "Secrets."
    )
    proof = (
        "The kubelet says that it is not there, a program misses a file that no key gives, or a "
        "pod waits and a list lacks one name."
    )
    against = (
        "Words about another workload; where nobody says it: an optional reference, an object "
        "that was seen, several that are missing."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding for each; a change only to the one name that can be meant."""
        found = {(one.kind, one.name, one.key): one for one in _missing(case)}
        return tuple(_finding(case, one) for one in found.values())


def _missing(case: Case) -> list[_Missing]:
    keys = [_with_key(case, one) for one in told(case, _KEY)]
    if keys:
        return keys
    objects = [_object(one) for one in told(case, _OBJECT)]
    return objects or list(_files(case)) or _unsaid(case)


def _files(case: Case) -> Iterator[_Missing]:
    """A file that a program does not find, and that its ConfigMap has no key for."""
    workload = design(case)
    for one in heard(case, _FILE) if workload else ():
        path = next(text for text in one.match.groups() if text)
        file = mounted_file(workload.data, path) if workload else None
        held = _known(case, file.kind, file.name) if file else None
        if file and held and held.data.whole and file.key not in _keys(held.data):
            yield _Missing(file.kind, file.name, file.key, one)


def _object(one: Told) -> _Missing:
    name = one.match["name"].rpartition("/")[2]
    return _Missing(_KINDS[one.match["kind"].lower()], name, "", one)


def _with_key(case: Case, one: Told) -> _Missing:
    key = (one.match["key"] or one.match["key2"]).strip("\"'.,;")
    kind = _KINDS["secret" if "secret" in one.match.group().lower() else "configmap"]
    name = one.match["name"]
    if not name:
        named = {ref.name for ref in _sites(case, kind) if ref.key == key}
        name = named.pop() if len(named) == 1 else ""
    return _Missing(kind, name.strip("\"'.,;"), key, one)


def _unsaid(case: Case) -> list[_Missing]:
    """Return the only reference to what a list does not show, if a pod waits for some reason."""
    waiting = [one for one in (*case.pods, *case.objects("Pod")) if _waits(one)]
    lists = {printed.data.command.kind for printed in case.texts("get")}
    gone = {
        (ref.kind, ref.name)
        for kind in ("Secret", "ConfigMap")
        if kind in lists and waiting
        for ref in _sites(case, kind)
        if not ref.optional and _known(case, kind, ref.name) is None
    }
    if len(gone) != 1:
        return []
    ((kind, name),) = gone
    text = f"{waiting[0].data.ref} waits, and there is no {kind} {name}"
    match = re.compile(".*").match(text)
    statement = Statement(waiting[0].id, waiting[0].data.ref, "", text)
    return [_Missing(kind, name, "", Told(statement, match))] if match else []


def _waits(pod: Observation[Manifest]) -> bool:
    states = [s for s in pod.data.items("status", "containerStatuses") if isinstance(s, dict)]
    reasons = {str(dig(s, "state", "waiting", "reason")) for s in states}
    return bool(reasons.intersection(_UNSEEN) or pod.data.dig("status", "reason") in _UNSEEN)


def _sites(case: Case, kind: str) -> tuple[Reference, ...]:
    workload = design(case)
    return tuple(ref for ref in references(workload.data) if ref.kind == kind) if workload else ()


def _known(case: Case, kind: str, name: str) -> Observation[Manifest] | None:
    return next((one for one in case.manifests(kind) if one.data.ref.name == name), None)


def _finding(case: Case, missing: _Missing) -> Finding:
    who = subject(case, missing.told.about)
    remedy = _remedy(case, missing)
    what = (
        f"key {missing.key} of {missing.kind} {missing.name}"
        if missing.key
        else (f"{missing.kind} {missing.name}")
    )
    finding = Finding(
        cause=_CAUSES[missing.kind, bool(missing.key)],
        object=who,
        confidence=sure(case, missing.told.about, 0.97 if remedy else 0.95),
        summary=f"{who} refers to {what}, which does not exist: {quoted(missing.told)}",
        evidence=proof(case, missing.told.id),
        because="Nothing that was seen is surely meant; none is ever made up.",
    )
    return with_remedy(finding, remedy)


def _remedy(case: Case, missing: _Missing) -> Remedy | None:
    """Return another name in every place that names what is missing; None without a sure one."""
    sites = [ref for ref in _sites(case, missing.kind) if ref.name == missing.name]
    if missing.key:
        sites = [ref for ref in sites if ref.key == missing.key]
    workload = case.workload
    if workload is None or not sites:
        return None
    old = missing.key or missing.name
    paths = [ref.key_path if missing.key else ref.path for ref in sites]
    names = _names(case, missing, sites, workload)
    undone = case.last_change(workload, paths[0], old)
    if undone and undone.field.before in names:
        right, because = str(undone.field.before), f"{undone.told} changed it; this undoes that."
        ids: tuple[str, ...] = (undone.seen.id,)
    elif found := meant(old, names):
        right, because = found, f"{found} exists, and nothing else has nearly that name."
        ids = names[found].ids
    elif found := _only(missing, sites, names):
        right, because = found, f"{found} alone has every key that is asked for."
        ids = names[found].ids
    else:
        return None
    changes = (FieldChange(object=workload, path=path, old=old, new=right) for path in paths)
    return Remedy(tuple(changes), because, ids)


def _only(missing: _Missing, sites: list[Reference], names: Mapping[str, _Named]) -> str | None:
    """Return the one object that has all of several keys that are asked for, by their names."""
    asked = {ref.key for ref in sites}
    unknown = [name for name, one in names.items() if not one.keys]
    if missing.key or unknown or "" in asked or len(asked) < _TELLING:
        return None
    return next(iter(names)) if len(names) == 1 else None


def _names(
    case: Case, missing: _Missing, sites: list[Reference], workload: ObjectRef
) -> dict[str, _Named]:
    """Return what could be meant: keys of the object, or objects that lack none of the keys."""
    if missing.key:
        every = (one for one in known(case, missing.kind) if one.ref.name == missing.name)
        found_one = next(every, None)
        return dict.fromkeys(_keys(found_one.manifest), _Named(found_one.ids)) if found_one else {}
    asked = {ref.key for ref in sites if ref.key}
    found = {
        one.ref.name: _Named(one.ids, frozenset(_keys(one.manifest)))
        for one in known(case, missing.kind)
        if one.ref.namespace in ("", workload.namespace)
    }
    return {name: one for name, one in found.items() if not one.keys or asked <= one.keys}


def _keys(one: Manifest) -> set[str]:
    sections = (one.dig(section) for section in _DATA)
    return {str(key) for section in sections if isinstance(section, dict) for key in section}
