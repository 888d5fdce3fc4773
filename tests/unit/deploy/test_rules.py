"""The alert rules about Tocsin itself ask for what is counted, and lead to a page that helps."""

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
FILE = ROOT / "deploy" / "prometheus" / "rules.yaml"
CASES = Path(__file__).parent / "rules_cases.yaml"
RULES = {
    rule["alert"]: rule
    for group in yaml.safe_load(FILE.read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
}
EVERY = pytest.mark.parametrize("name", RULES)
PROMTOOL = shutil.which("promtool")
METRIC = re.compile(r"\btocsin_[a-z_]+")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def counted():
    """Return the name of every metric that some module counts."""
    calls = (
        node
        for folder in ("libs", "services")
        for module in (ROOT / folder).glob("*/src/**/*.py")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"Counter", "Gauge"}
    )
    return {getattr(call.args[0], "value", "") for call in calls if call.args}


COUNTED = counted()


@EVERY
def test_every_rule_asks_for_metrics_that_there_are(name):
    asked = set(METRIC.findall(RULES[name]["expr"]))
    assert asked - COUNTED == set()
    assert asked or RULES[name]["expr"].startswith("up{")


@EVERY
def test_every_alert_leads_to_a_section_that_says_what_to_do(name):
    page, _, anchor = RULES[name]["annotations"]["runbook_url"].partition("#")
    headings = HEADING.findall((ROOT / page).read_text(encoding="utf-8"))
    assert anchor in {heading.lower().replace(" ", "-") for heading in headings}


@EVERY
def test_every_alert_says_how_grave_it_is_and_what_is_wrong(name):
    assert RULES[name]["labels"]["severity"] in {"warning", "critical"}
    assert RULES[name]["annotations"]["summary"]


def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not():
    cases = yaml.safe_load(CASES.read_text(encoding="utf-8"))["tests"]
    tried = [one for case in cases for one in case["alert_rule_test"]]
    fires = {one["alertname"] for one in tried if one["exp_alerts"]}
    calm = {one["alertname"] for one in tried if not one["exp_alerts"]}
    assert fires == calm == set(RULES)


@pytest.mark.skipif(
    PROMTOOL is None and "CI" not in os.environ,
    reason="NOT TESTED with the real promtool: it is not here",
)
def test_prometheus_takes_the_rules_and_they_fire_when_they_should():
    config = FILE.with_name("prometheus.yaml")
    check = subprocess.run(
        [PROMTOOL, "check", "config", config], capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stdout + check.stderr
    tried = subprocess.run(
        [PROMTOOL, "test", "rules", CASES], capture_output=True, text=True, check=False
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
