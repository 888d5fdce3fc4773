"""`tocsin resolve`: what validation is asked, and that a recording replaces living clusters."""

import json

import pytest

from tocsin_cli import app
from tocsin_cli.commands import resolve
from tocsin_testing import build


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """What validation was started with; ingest reads one alert."""
    given = []

    def answer(service, *arguments, environment, stdin):
        if service == "ingest":
            return f"{build.alert(title='Firing').model_dump_json()}\n"
        given.append((arguments, environment, json.loads(stdin)["title"]))
        return "the place\n"

    monkeypatch.setattr(resolve, "answer", answer)
    monkeypatch.setenv("TOCSIN_CLUSTER_SERVERS", "{}")
    monkeypatch.delenv("TOCSIN_GITOPS_FILE", raising=False)
    (tmp_path / "body.json").write_text("{}")
    (tmp_path / "gitops.yaml").write_text("repositories: []\n")
    (tmp_path / "bundle").mkdir()
    monkeypatch.chdir(tmp_path)
    return given


def test_validation_is_asked_about_the_alert_with_the_clusters_of_the_settings(asked, capsys):
    assert app.main(["resolve", "body.json"]) == 0
    ((arguments, environment, title),) = asked
    assert title == "Firing"
    assert arguments[:3] == ("resolve", "--alert", "-")
    assert arguments[-2] == "--gitops-file"
    assert environment["TOCSIN_CLUSTER_SERVERS"] == "{}"
    assert capsys.readouterr().out == "the place\n"


def test_a_bundle_takes_the_place_of_every_other_cluster(asked, tmp_path):
    assert app.main(["resolve", "body.json", "--snapshot", "bundle", "--json"]) == 0
    ((arguments, environment, _),) = asked
    assert "TOCSIN_CLUSTER_SERVERS" not in environment
    assert arguments[-2:] == ("--cluster-snapshot", str(tmp_path / "bundle"))
    assert "--json" in arguments


def test_a_gitops_file_that_is_not_there_is_wrong_usage(asked, tmp_path):
    (tmp_path / "gitops.yaml").unlink()
    assert app.main(["resolve", "body.json"]) == 2
