"""The dashboard asks for nothing that no service counts."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BOARD = json.loads((ROOT / "deploy" / "grafana" / "tocsin.json").read_text(encoding="utf-8"))
EXPRESSIONS = [target["expr"] for panel in BOARD["panels"] for target in panel["targets"]]
KINDS = {"Counter", "Gauge", "Histogram"}
METRIC = re.compile(r"tocsin_[a-z_]+")
BY = re.compile(r"by \(([^)]*)\)")


def counted():
    """Return every metric in the code with its labels, as Prometheus knows it."""
    found = {}
    for folder in ("libs", "services"):
        for module in (ROOT / folder).glob("*/src/**/*.py"):
            for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and _is_metric(node):
                    name, _, *labels = map(ast.literal_eval, node.args)
                    found[name] = {label for some in labels for label in some}
                    if node.func.id == "Histogram":
                        found[f"{name}_bucket"] = found[name] | {"le"}
    return found


def _is_metric(call):
    if getattr(call.func, "id", "") not in KINDS or not call.args:
        return False
    return str(getattr(call.args[0], "value", "")).startswith("tocsin_")


COUNTED = counted()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_query_asks_for_metrics_and_labels_that_there_are(expression):
    names = METRIC.findall(expression)
    assert names
    assert [name for name in names if name not in COUNTED] == []
    labels = {one.strip() for group in BY.findall(expression) for one in group.split(",")}
    assert labels <= set.union(*(COUNTED[name] for name in names))


def test_every_panel_has_a_place_of_its_own_and_a_source_that_can_be_chosen():
    places = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in BOARD["panels"]]
    assert len(set(places)) == len(places)
    assert {one["datasource"]["uid"] for one in BOARD["panels"]} == {"${datasource}"}
