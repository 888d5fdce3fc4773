"""Which alerts a rule is about, written as Alertmanager writes it: `severity=~"critical|page"`."""

import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, model_validator

from tocsin_contracts import Alert, Value
from tocsin_ingest.triage.expressions import expression

SOURCE = "source"
"""What matchers call the kind of sender."""

_WRITTEN = re.compile(r"\s*(?P<name>[^\s=!~]+)\s*(?P<op>=~|!~|!=|=)\s*(?P<value>.*?)\s*", re.DOTALL)


class Op(StrEnum):
    """How a label is compared; an expression has to fit the whole value."""

    IS = "="
    IS_NOT = "!="
    FITS = "=~"
    FITS_NOT = "!~"


class Matcher(Value):
    """One condition on one label; a label that an alert does not have is empty."""

    model_config = ConfigDict(extra="forbid")

    name: str
    op: Op
    value: str

    @model_validator(mode="before")
    @classmethod
    def _written(cls, given: Any) -> Any:
        if not isinstance(given, str):
            return given
        found = _WRITTEN.fullmatch(given)
        if found is None:
            raise ValueError(f"no matcher: {given!r}; write name=value, !=, =~ or !~")
        return {**found.groupdict(), "value": _unquoted(found["value"])}

    @model_validator(mode="after")
    def _compiles(self) -> "Matcher":
        if self.op in (Op.FITS, Op.FITS_NOT):
            expression(self.value)
        return self

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the condition holds."""
        value = labels.get(self.name, "")
        match self.op:
            case Op.IS:
                return value == self.value
            case Op.IS_NOT:
                return value != self.value
            case Op.FITS:
                return expression(self.value).fits(value)
            case _:
                return not expression(self.value).fits(value)

    def __str__(self) -> str:
        """Write it the way it is written in a configuration."""
        return f"{self.name}{self.op}{json.dumps(self.value, ensure_ascii=False)}"


def _selective(matchers: tuple[Matcher, ...]) -> tuple[Matcher, ...]:
    if all(matcher.matches({}) for matcher in matchers):
        raise ValueError("it would match every alert; one matcher at least must need a label")
    return matchers


Matchers = tuple[Matcher, ...]
Selective = Annotated[Matchers, AfterValidator(_selective)]
"""Matchers that leave something out."""


def all_match(matchers: Iterable[Matcher], labels: Mapping[str, str]) -> bool:
    """Whether every condition holds."""
    return all(matcher.matches(labels) for matcher in matchers)


def subject(alert: Alert) -> dict[str, str]:
    """Return what matchers see of an alert: its labels, and what we know beside them."""
    known = {"alertname": alert.title, "severity": alert.severity.value, SOURCE: alert.source}
    if at := alert.workload:
        known |= {"cluster": at.cluster, "namespace": at.namespace, "workload": at.name}
    return {**known, **alert.labels}


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        raise ValueError(f"a quote in {value!r} is not closed, or not escaped") from None
