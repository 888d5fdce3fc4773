"""What `just bench rca` prints is what people judge the analyzers by."""

import importlib.util
import json
from pathlib import Path

import pytest

from tocsin_cli.cases import recorded

BENCH = Path(__file__).parents[3] / "bench" / "rca.py"


@pytest.fixture(scope="module")
def bench():
    spec = importlib.util.spec_from_file_location("bench_rca", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def predicted(id, cls, *, family="config", decided=True, action="edit", ms=10.0, tokens=500):
    line = {"id": id, "cls": cls, "family": family, "action": action, "ms": ms}
    return line | {"decided": decided, "request_tokens": tokens}


@pytest.fixture
def told(bench, tmp_path):
    """Return the lines of the summary of some predictions of a missing variable."""

    def lines(*predictions):
        path = tmp_path / "cases.jsonl"
        truth = {"cls": "missing_env", "family": "config", "fix": "edit"}
        alert = {"labels": {"alertname": "Down", "namespace": "shop"}}
        rows = [{"id": one["id"], "alert": alert, "truth": truth} for one in predictions]
        empty = {"manifests": [{"file": "a.yaml", "text": "a: 1"}], "evidence": []}
        path.write_text("".join(f"{json.dumps(row | empty)}\n" for row in rows))
        cases = list(recorded.read(path))
        return list(bench.summary(list(predictions), cases, path))

    return lines


def test_accuracy_is_told_by_family_and_over_all(told):
    wrong = predicted("b", "quota_exceeded", family="quota_rbac", action="escalate")
    head, config, every, *_ = told(predicted("a", "missing_env"), wrong)
    assert head.split() == ["family", "cases", "class", "family", "action"]
    assert config.split() == ["config", "2", "0.50", "0.50", "0.50"]
    assert every.split() == ["all", "2", "0.50", "0.50", "0.50"]


def test_who_says_nothing_is_counted(told):
    silent = predicted("b", "", family="", decided=False, action="escalate")
    assert "abstentions: 1 of 2" in told(predicted("a", "missing_env"), silent)


def test_what_a_model_is_spared_is_counted(told):
    unsure = predicted("b", "missing_env", decided=False)
    lines = told(predicted("a", "missing_env", tokens=1200), unsure)
    assert "model calls saved: at least 1 of 2, and 1200 tokens" in lines


def test_the_time_is_told_with_its_ratio_to_parsing_the_files_of_the_case(told):
    assert told(predicted("a", "missing_env", ms=50.0))[-1].startswith(
        "p95 of a diagnosis: 50 ms, "
    )


async def test_a_case_is_judged_in_this_process_and_its_request_is_counted(bench, tmp_path):
    alert = {"labels": {"alertname": "Down", "namespace": "shop", "deployment": "api"}}
    manifest = {"file": "a.yaml", "text": "kind: Deployment\nmetadata: {name: api}\n"}
    path = tmp_path / "cases.jsonl"
    row = {"id": "a", "alert": alert, "manifests": [manifest], "evidence": []}
    path.write_text(json.dumps(row))
    (case,) = recorded.read(path)
    line = await bench.judge(case, tmp_path / "snapshot")
    assert (line["action"], line["decided"]) == ("escalate", False)
    assert line["request_tokens"] > 0
