"""`tocsin investigate`: which alert it is about, and what it says where there is nothing to ask."""

import json

import pytest

from tocsin_cli import app
from tocsin_cli.commands import investigate
from tocsin_kit.errors import PermanentError
from tocsin_testing import build

FIRING = build.alert(title="Firing")
RESOLVED = build.alert(title="Resolved", status="resolved")


@pytest.fixture
def bundle(tmp_path, monkeypatch):
    """A bundle beside a body; the services only say what they were told."""
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle/pods.txt").write_text("NAME READY")
    (tmp_path / "body.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "bundle"


@pytest.fixture
def told(monkeypatch):
    """What rca is given, where ingest reads these alerts."""
    given = []

    def answered(alerts):
        def answer(service, *arguments, environment, stdin):
            if service == "ingest":
                return "".join(f"{one.model_dump_json()}\n" for one in alerts)
            given.append(json.loads(stdin)["title"])
            return "a report\n"

        monkeypatch.setattr(investigate, "answer", answer)
        return given

    return answered


def investigated(*more):
    return app.main(["investigate", "--snapshot", "bundle", "--alert", "body.json", *more])


def test_of_several_alerts_one_that_fires_is_looked_at_and_that_is_said(bundle, told, capsys):
    given = told([RESOLVED, FIRING])
    assert investigated() == 0
    assert given == ["Firing"]
    said = capsys.readouterr()
    assert said.out == "a report\n"
    assert said.err == "note: body.json holds 2 alerts; this is about one of them\n"


def test_that_an_alert_is_over_is_said_beside_the_report(bundle, told, capsys):
    told([RESOLVED])
    assert investigated("--format", "json") == 0
    said = capsys.readouterr()
    assert said.out == "a report\n"
    assert "the alert is resolved" in said.err


def test_a_folder_without_a_file_is_no_bundle(bundle, told, capsys):
    (bundle / "pods.txt").unlink()
    assert investigated() == 2
    assert "'bundle' holds no file; docs/bundles.md says" in capsys.readouterr().err


def test_a_body_that_its_source_does_not_send_is_named_with_what_to_do(bundle, monkeypatch, capsys):
    def answer(*_, **__):
        raise PermanentError("not an Alertmanager notification")

    monkeypatch.setattr(investigate, "answer", answer)
    assert investigated() == 1
    said = capsys.readouterr().err
    assert said.startswith("tocsin: 'body.json': not an Alertmanager notification; --source says")
