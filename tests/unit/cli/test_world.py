"""Without being told anything, Tocsin looks at nothing and writes nowhere."""

from pathlib import Path

import yaml

from tocsin_cli.world import World


def test_what_was_not_given_is_empty(tmp_path):
    world = World().settled(tmp_path)
    assert yaml.safe_load(world.gitops.read_text()) == {"repositories": []}
    assert list(world.snapshot.iterdir()) == []


def test_what_a_person_wrote_there_stays(tmp_path):
    World().settled(tmp_path).gitops.write_text("mine")
    assert World().settled(tmp_path).gitops.read_text() == "mine"


def test_what_was_given_is_taken(tmp_path):
    given = World(gitops=tmp_path / "a.yaml", snapshot=tmp_path)
    assert given.settled(tmp_path / "elsewhere") == given


def test_paths_are_absolute_because_services_do_not_share_our_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    world = World(gitops=Path("gitops.yaml"))
    assert world.environment() == {"TOCSIN_GITOPS_FILE": str(tmp_path / "gitops.yaml")}
