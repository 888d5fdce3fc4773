"""Secrets as files: what they hold counts as if the environment said it, and nothing is guessed."""

import pytest

from tocsin_kit import secret_files
from tocsin_kit.errors import PermanentError
from tocsin_kit.origins import Origin, explain
from tocsin_kit.settings import ServiceSettings


class Settings(ServiceSettings):
    service = "rca"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "TOCSIN_NATS_URL").write_text("nats://rca:canary@bus\n")
    (tmp_path / "GITHUB_TOKEN").write_text("ghp_x")
    return tmp_path


def taken(folder, **others):
    environment = {secret_files.VARIABLE: str(folder), **others}
    secret_files.take(environment)
    return environment


def test_every_file_is_a_variable_without_its_line_end(folder):
    environment = taken(folder)
    assert environment["TOCSIN_NATS_URL"] == "nats://rca:canary@bus"
    assert environment["GITHUB_TOKEN"] == "ghp_x"


def test_without_a_folder_nothing_is_read():
    environment = {"TOCSIN_NATS_URL": "nats://bus"}
    secret_files.take(environment)
    assert environment == {"TOCSIN_NATS_URL": "nats://bus"}


def test_what_kubernetes_and_people_put_beside_secrets_is_left_alone(folder):
    (folder / "..data").mkdir()
    (folder / "README.md").write_bytes(b"\xff")
    (folder / "A_FOLDER").mkdir()
    assert set(taken(folder)) == {secret_files.VARIABLE, "TOCSIN_NATS_URL", "GITHUB_TOKEN"}


@pytest.mark.parametrize("same", ["", "ghp_x"])
def test_a_variable_that_says_nothing_else_is_no_conflict(folder, same):
    assert taken(folder, GITHUB_TOKEN=same)["GITHUB_TOKEN"] == "ghp_x"


def test_p6_two_secrets_for_one_variable_stop_the_service_without_being_shown(folder):
    with pytest.raises(PermanentError, match="GITHUB_TOKEN is set, and otherwise") as refused:
        taken(folder, GITHUB_TOKEN="canary-0123456789")
    assert "canary" not in str(refused.value)
    assert "ghp_x" not in str(refused.value)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b", b"x" * (1024 * 1024 + 1)])
def test_what_is_no_secret_stops_the_service_by_name(folder, content):
    (folder / "TOCSIN_API_TOKENS").write_bytes(content)
    with pytest.raises(PermanentError, match="TOCSIN_API_TOKENS"):
        taken(folder)


def test_a_folder_that_is_not_there_stops_the_service(tmp_path):
    with pytest.raises(PermanentError, match="TOCSIN_SECRETS_DIR: cannot read"):
        taken(tmp_path / "none")


def test_where_a_value_came_from_names_the_file(folder, monkeypatch):
    for name, value in taken(folder).items():
        monkeypatch.setenv(name, value)
    (found,) = [one for one in explain(Settings) if one.variable == "TOCSIN_NATS_URL"]
    assert (found.origin, found.where) == (Origin.ENVIRONMENT, str(folder / "TOCSIN_NATS_URL"))
    assert "canary" not in found.model_dump_json()
