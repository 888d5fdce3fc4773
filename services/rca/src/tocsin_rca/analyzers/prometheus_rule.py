"""Alerting and recording rules that cannot be evaluated."""

import re
from collections.abc import Iterator

from tocsin_cluster.manifest import Manifest
from tocsin_contracts import CauseClass, Finding, ObjectRef
from tocsin_rca.evidence.case import Case
from tocsin_rca.evidence.hearing import heard, quoted, subject
from tocsin_rca.evidence.observation import Observation
from tocsin_rca.evidence.remedy import with_remedy
from tocsin_rca.evidence.rules import matched
from tocsin_rca.evidence.undoing import changes, undo

_BROKEN = re.compile(
    r"(?i)evaluating rule failed|many-to-many matching not allowed"
    r"|duplicate series for the match group|multiple matches for labels"
    r"|could not parse expression|vector cannot contain metrics with the same labelset"
    r"|loading groups failed|failed to parse rules?|rules are not valid|error loading rules"
    r"|group \"[^\"]{1,160}\", rule \d|prometheusrulemutate|rule evaluation fail"
)
_ALERT = re.compile(
    r"(?i)PrometheusRule(?:Failure|Evaluat|Error)|RuleEvaluation|Prometheus(?:OperatorRejected"
    r"|BadConfig)"
)
_NAMING = ("pod", "service", "job", "container", "statefulset", "prometheusrule", "alertname")
_GROUP = re.compile(r"group=\"?(?P<group>[^\s\";,]{1,200})|group \"(?P<other>[^\"]{1,200})\"")


class PrometheusRules:
    """Prometheus says that it cannot evaluate or load a rule."""

    name = "prometheus_rule"
    needs = "The words of Prometheus or its operator, the alert, and the rule objects."
    proof = (
        "Prometheus says that it cannot load or evaluate a rule, and the alert is about "
        "Prometheus or its rules."
    )
    against = "An alert about something else; the rule object was not seen."

    def analyze(self, case: Case) -> tuple[Finding, ...]:
        """Return one finding about the rule object; a commit that changed it is undone."""
        told = heard(case, _BROKEN)
        if not told or not _is_about_rules(case):
            return ()
        line = quoted(told[0])
        rule = next(_rules(case, line), None)
        change = next(
            changes(case, lambda f: f.document.kind == "PrometheusRule" and f.path[-1] == "expr"),
            None,
        )
        edit = undo(case, change) if change else None
        ref: ObjectRef = rule.data.ref if rule else subject(case)
        ids = [*((rule.id,) if rule else ()), *(one.id for one in told)]
        ids += [change.seen.id] if change and edit else []
        finding = Finding(
            cause=CauseClass.PROMETHEUS_RULE_ERROR,
            object=ref,
            confidence=0.95 if rule else 0.9,
            summary=f"A rule of {ref} cannot be evaluated: {line}",
            evidence=tuple(dict.fromkeys(ids)),
            change=edit,
            because=f"{change.told} changed it; this undoes that." if change and edit else "",
        )
        return (finding if edit or not rule else with_remedy(finding, matched(rule, line)),)


def _is_about_rules(case: Case) -> bool:
    said = _ALERT.search(f"{case.alert.title} {case.alert.summary}")
    labels = (value for key, value in case.alert.labels.items() if key in _NAMING)
    return bool(said or "prometheus" in " ".join(labels).lower())


def _rules(case: Case, line: str) -> Iterator[Observation[Manifest]]:
    """Yield the rule objects, those with the group that the line names first."""
    found = _GROUP.search(line)
    group = (found["group"] or found["other"] or "").rpartition("/")[2] if found else ""
    rules = case.manifests("PrometheusRule")
    yield from (
        r for r in rules if any(g.get("name") == group for g in r.data.items("spec", "groups"))
    )
    yield from rules if len(rules) == 1 else ()
