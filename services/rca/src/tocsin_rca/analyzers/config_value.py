"""Values that are set and wrong: hosts that do not exist, and words that a program refuses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from tocsin_contracts import CauseClass, FieldChange, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.concern import proof, sure
from tocsin_rca.evidence.designs import design
from tocsin_rca.evidence.hearing import heard, quoted, subject
from tocsin_rca.evidence.holders import Holder, configured, holders
from tocsin_rca.evidence.likeness import meant
from tocsin_rca.evidence.statements import Told
from tocsin_rca.evidence.undoing import changes, undo
from tocsin_rca.evidence.unresolved import Unresolved, unresolved
from tocsin_rca.ports import ChangedField

_REFUSED = re.compile(
    "|".join(
        (
            r"(?:strconv\.\w{1,12}|time|parse|url): (?:parsing |invalid \w{1,12} "
            r"|parse )?\\?\"(?P<a>[^\"\\]{1,200})\\?\"",
            r"invalid literal for \w{1,8}\(\) with base 10: '(?P<b>[^']{0,200})'",
            r"NumberFormatException: For input string: \"(?P<c>[^\"]{0,200})\"",
            r"could not convert string to float: '?(?P<d>[^'\n]{1,100})",
            r"(?!Invalid value: )"
            r"(?i:(?:invalid|unknown|unsupported|unrecognized|illegal|bad|not a valid|malformed"
            r"|unexpected)"
            r" (?:value|port|url|uri|address|host|log ?level|level|mode|duration|timeout|boolean"
            r"|dsn|connection string"
            r"|time ?zone|driver|provider|backend|scheme|protocol|region|format|type|setting"
            r"|config\w{0,10}|endpoint|size))"
            r"(?i: for \w{1,60})?(?: of|:| is)?\s{0,2}['\"`(]{0,2}(?P<e>[^\s'\"`),]{1,200})",
            r"(?i:(?:unknown|invalid|unsupported) \w{1,20} (?:protocol"
            r"|scheme) )['\"]?(?P<f>[^\s'\"]{0,60})",
            r"(?i:not a valid) [\w ]{1,40}: \"(?P<j>[^\"]{1,100})\"",
            r"(?i:database) \"(?P<g>[^\"]{1,63})\" (?i:does not exist)",
            r"(?i:Unknown database) '(?P<h>[^']{1,63})'",
            r"(?i:(?:no such|unknown|the specified) (?:bucket|topic|queue|index|keyspace|schema"
            r"|exchange)\b):? ?['\"]?(?P<i>[\w.-]{0,100})",
        )
    )
)
_UNREADABLE = re.compile(
    r"(?i)(?:failed|unable|could not|cannot|can't|error) (?:to )?(?:load|loading|read|reading"
    r"|parse|parsing|unmarshal\w{0,5}"
    r"|decod\w{1,5}|process\w{0,3}|open) (?:the )?(?:\w{1,20} )?config\w{0,10}"
    r"|yaml: (?:line \d|unmarshal error|mapping values|did not find)|FATAL CONFIG FILE ERROR"
    r"|\[emerg\] [^\n]{0,40}(?:unknown directive|invalid number of arguments|unexpected"
    r"|directive is not|invalid \w{1,20} in|no \")"
    r"|(?:invalid|bad|malformed|wrong|broken|incorrect|missing) config\w{0,10}"
    r"|config\w{0,10} (?:is|file is) (?:invalid|missing|not valid)"
    r"|config\w{0,10} (?:error|validation failed|parse error|file .{1,120}contains errors)"
    r"|toml: |ConfigurationError|ImproperlyConfigured"
    r"|unrecognized configuration parameter|Bad directive or wrong number"
    r"|APPLICATION FAILED TO START"
    r"|error parsing .{1,60}\.(?:ya?ml|json|toml|conf|ini)"
    r"|config[\w./-]{0,60}['\"]? (?:file )?(?:was )?(?:not found|does not exist|is missing)"
    r"|(?:open|stat|read|access) /\S{1,120}\.(?:ya?ml|json|toml|conf|ini|properties): no such file"
    r"|hostPath type check failed|mount a directory onto a file|is not a directory: unknown"
)
_CLAIM = re.compile(r"persistentvolumeclaim \\?\"(?P<claim>[^\"\\]{1,253})\\?\" not found")
_NO_CREDENTIALS = re.compile(r"(?i)credential|token|password|api.?key|certificate|x509")
_ALARM = re.compile(
    r"(?i)error|fail|refus|time(?:d )?out|not (?:known|found|exist)|invalid|cannot|can't|unable"
    r"|no such|exception"
)
_SHORTEST = 4


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A value that is wrong, as far as it is known: what says so, where it is, what is right."""

    told: tuple[Told, ...]
    what: str
    confidence: float
    object: ObjectRef | None = None
    seen: tuple[str, ...] = ()
    edit: FieldChange | None = None
    because: str = "Nothing that was seen says which value would be right."


class ConfigValue:
    """A log quotes a value, and a file or the environment holds it."""

    name = "config_value"
    needs = (
        "Logs and endings, the values in the environment and in ConfigMaps, their commits, and "
        "the Services there are."
    )
    proof = (
        "The program refuses a value, a host or its configuration; it is surer where a setting "
        "is seen to hold that value."
    )
    against = (
        "A host that is a Service after all, words about credentials or certificates, and a "
        "value that no setting holds."
    )

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding: what was changed last, an unknown host, a value that is refused."""
        looks = (_changed, _unknown_host, _refused, _unknown_claim, _set_twice, _unreadable)
        found = (wrong for look in looks for wrong in look(case))
        return tuple(_finding(case, wrong) for wrong in islice(found, 1))


def _finding(case: Case, wrong: _Wrong) -> Finding:
    first = wrong.told[0] if wrong.told else None
    about = first.about if first else wrong.object
    said = f": {quoted(first)}" if first else "."
    return Finding(
        cause=CauseClass.CONFIG_VALUE_WRONG,
        object=wrong.object or subject(case, about),
        confidence=sure(case, about, wrong.confidence),
        summary=f"{wrong.what} is wrong{said}",
        evidence=proof(case, *wrong.seen, *(one.id for one in wrong.told)),
        change=wrong.edit,
        because=wrong.because,
    )


def _changed(case: Case) -> Iterator[_Wrong]:
    """A value that a commit set last stands in a line of alarm."""
    for change in changes(case, _is_setting):
        word = _telling(str(change.field.after), str(change.field.before))
        edit = undo(case, change)
        if word is None or edit is None:
            continue
        told = heard(case, re.compile(rf"(?<![\w.-]){re.escape(word)}(?![\w-])"))
        if told and not told[0].statement.reason and _ALARM.search(quoted(told[0])):
            because = f"{change.told} changed it; this undoes that."
            what = f"{change.field.path[-1]} of {edit.object}, {word},"
            yield _Wrong(told, what, 0.94, edit.object, (change.seen.id,), edit, because)


def _is_setting(field: ChangedField) -> bool:
    held = field.document.kind == "ConfigMap" or "env" in field.path
    return held and "valueFrom" not in field.path


def _telling(after: str, before: str) -> str | None:
    """Return the part of a new value that was not in the old one, if it is worth looking for."""
    parts = re.split(r"[\s,;@/=]{1,9}|://", after)
    words = [word for word in parts if len(word) >= _SHORTEST and word not in before]
    return max(words, key=len, default=None)


def _unknown_host(case: Case) -> Iterator[_Wrong]:
    asked = unresolved(case)
    if asked is None or _exists(case, asked):
        return
    names = (asked.host, asked.service) if asked.is_inside else (asked.host,)
    found = next((held for name in names if (held := holders(case, name))), ())
    if not found:
        return
    right = _right_host(case, asked)
    edit = _replaced(found[0], asked.host, right) if right and len(found) == 1 else None
    yield _Wrong(
        told=asked.told,
        what=f"{found[0].name} of {found[0].object}, {asked.host},",
        confidence=0.94 if edit else 0.88 if asked.is_inside else 0.72,
        object=found[0].object,
        seen=(found[0].id,),
        edit=edit,
        because=f"The Service {right} exists, and nothing else has nearly that name."
        if edit
        else "Nothing that was seen says which host would be right.",
    )


def _right_host(case: Case, asked: Unresolved) -> str | None:
    services = {one.data.ref.name for one in case.manifests("Service")}
    return meant(asked.service, services) if asked.is_inside and not asked.namespace else None


def _exists(case: Case, asked: Unresolved) -> bool:
    """Whether it is a Service after all: then names are not resolved for another reason."""
    return any(
        one.data.ref.name == asked.service and asked.namespace in ("", one.data.ref.namespace)
        for one in case.manifests("Service")
    )


def _replaced(holder: Holder, old: str, right: str) -> FieldChange | None:
    if holder.value.count(old) != 1:
        return None
    new = holder.value.replace(old, right)
    return FieldChange(object=holder.object, path=holder.path, old=holder.value, new=new)


def _refused(case: Case) -> Iterator[_Wrong]:
    told = heard(case, _REFUSED)
    if not told or _NO_CREDENTIALS.search(told[0].match.group()):
        return
    value = next((text for text in told[0].match.groups() if text), "")
    found = [one for one in configured(case) if value and value in one.value]
    for one in found[:1]:
        yield _Wrong(told, f"{one.name} of {one.object}, {value},", 0.9, one.object, (one.id,))
    yield _Wrong(told, f"A setting, {value}," if value else "A setting", 0.72)


def _unknown_claim(case: Case) -> Iterator[_Wrong]:
    if told := heard(case, _CLAIM):
        yield _Wrong(told, f"The claim that a volume names, {told[0].match['claim']},", 0.93)


def _set_twice(case: Case) -> Iterator[_Wrong]:
    """A variable that is set twice in a container has the last of its values."""
    workload = design(case)
    for container in workload.data.containers() if workload else ():
        values: dict[str, str] = {}
        for one in container.items("env"):
            name, value = str(one.get("name")), str(one.get("value"))
            if workload and values.setdefault(name, value) != value:
                what = f"{name} of {workload.data.ref}, set to {values[name]} and to {value},"
                yield _Wrong((), what, 0.8, workload.data.ref, (workload.id,))


def _unreadable(case: Case) -> Iterator[_Wrong]:
    if told := heard(case, _UNREADABLE):
        yield _Wrong(told, "The configuration", 0.78)
