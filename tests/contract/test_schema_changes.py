"""The rule of change: what may be done to an event, and what needs a new version of it."""

import copy
import shutil

import pytest

from tocsin_contracts import PlanDrafted, schemas
from tocsin_contracts.schema_changes import breaking_changes


@pytest.fixture(scope="module")
def schema():
    return schemas.schema(PlanDrafted)


def changed(schema, change):
    new = copy.deepcopy(schema)
    change(new)
    return breaking_changes(schema, new)


def test_the_same_schema_breaks_nobody(schema):
    assert breaking_changes(schema, copy.deepcopy(schema)) == []


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda s: s["properties"].update(extra={"type": "string"}), id="a new field"),
        pytest.param(lambda s: s["required"].remove("plan"), id="a field that may now be left out"),
        pytest.param(lambda s: s["properties"]["at"].update(description="When."), id="other words"),
        pytest.param(
            lambda s: s["$defs"]["Risk"]["enum"].append("medium"), id="a new word in a list"
        ),
    ],
)
def test_a_change_that_old_readers_can_live_with_is_allowed(schema, change):
    assert changed(schema, change) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda s: s["properties"].pop("plan"), "event.plan is gone"),
        (lambda s: s["required"].append("trace"), "event.trace has become required"),
        (
            lambda s: s["properties"]["id"].update(type="integer"),
            "event.id changed its type from ['string'] to ['integer']",
        ),
        (
            lambda s: (
                s["properties"]["trace"].pop("anyOf")
                and s["properties"]["trace"].update(type="string")
            ),
            "event.trace changed its type from ['None', 'null', 'string'] to ['string']",
        ),
        (
            lambda s: s["$defs"]["Risk"]["enum"].remove("low"),
            "event.plan.risk lost the word 'low'",
        ),
        (
            lambda s: s["$defs"]["FileChange"]["properties"].pop("mode"),
            "event.plan.files items.mode is gone",
        ),
        (
            lambda s: s["$defs"]["Alert"]["properties"]["labels"].update(
                additionalProperties={"type": "integer"}
            ),
            "event.alert.labels values changed its type from ['string'] to ['integer']",
        ),
        (
            lambda s: s["properties"]["run_id"].update(pattern="^r"),
            "event.run_id changed its pattern from '^[A-Za-z0-9_-]{1,64}$' to '^r'",
        ),
        (
            lambda s: s["$defs"]["ObjectRef"]["required"].append("namespace"),
            "event.hypothesis.finding.object.namespace has become required",
        ),
    ],
)
def test_a_change_that_would_break_a_reader_is_named(schema, change, sentence):
    assert sentence in changed(schema, change)


def test_a_breaking_change_is_never_written(tmp_path, capsys):
    shutil.copytree(schemas.FOLDER, tmp_path, dirs_exist_ok=True)
    held = tmp_path / "run.finished.v1.json"
    held.write_text(held.read_text().replace('"sentence"', '"text"'))
    before = held.read_text()
    assert schemas.main([], tmp_path) == 1
    assert held.read_text() == before
    assert "run.finished.v1.json: event.text is gone" in capsys.readouterr().err


def test_checking_names_the_file_that_differs(tmp_path, capsys):
    shutil.copytree(schemas.FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / "alert.accepted.v1.json").unlink()
    (tmp_path / "alert.forgotten.v1.json").write_text("{}")
    stale = tmp_path / "run.finished.v1.json"
    stale.write_text(stale.read_text().replace("The run ended", "It ended"))
    assert schemas.main(["--check"], tmp_path) == 1
    assert [line.split(":")[0] for line in capsys.readouterr().err.splitlines()] == [
        "alert.accepted.v1.json is missing",
        "alert.forgotten.v1.json belongs to no event",
        "run.finished.v1.json is out of date",
    ]


def test_writing_makes_the_check_pass(tmp_path):
    (tmp_path / "alert.forgotten.v1.json").write_text("{}")
    assert schemas.main([], tmp_path) == 0
    assert schemas.main(["--check"], tmp_path) == 0
