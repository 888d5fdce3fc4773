"""Settings: which source wins, and what a wrong one is answered with."""

from typing import ClassVar

import pytest
from pydantic import Field, SecretStr, ValidationError

from tocsin_kit.errors import PermanentError
from tocsin_kit.settings import LogFormat, ServiceSettings


class Settings(ServiceSettings):
    service: ClassVar[str] = "rca"

    rca_attempts: int = Field(default=2, description="Tries.")
    rca_tokens: tuple[SecretStr, ...] = Field(default=(), description="Secrets.")


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch):
    for name in ("NATS_URL", "CONFIG", "RCA_ATTEMPTS", "RCA_TOKENS", "LOG_FORMAT"):
        monkeypatch.delenv(f"TOCSIN_{name}", raising=False)


@pytest.fixture
def file(tmp_path, monkeypatch):
    def write(text):
        path = tmp_path / "tocsin.toml"
        path.write_text(text)
        monkeypatch.setenv("TOCSIN_CONFIG", str(path))

    return write


def test_every_setting_has_a_default_and_says_what_it_is_for():
    assert Settings.load().rca_attempts == 2
    assert [n for n, field in Settings.model_fields.items() if not field.description] == []


def test_flags_win_over_the_environment_over_the_file_over_defaults(file, monkeypatch):
    assert Settings.load().rca_attempts == 2
    file("[rca]\nrca_attempts = 3")
    assert Settings.load().rca_attempts == 3
    monkeypatch.setenv("TOCSIN_RCA_ATTEMPTS", "4")
    assert Settings.load().rca_attempts == 4
    assert Settings.load(["--rca-attempts", "5"]).rca_attempts == 5


def test_a_services_own_table_wins_over_the_common_one(file):
    file('[common]\nnats_url = "nats://a"\nlog_format = "console"\n[rca]\nnats_url = "nats://b"')
    settings = Settings.load()
    assert settings.nats_url == "nats://b"
    assert settings.log_format is LogFormat.CONSOLE


def test_tables_of_other_services_are_none_of_our_business(file):
    file("[action]\nbranch = 1")
    assert Settings.load().rca_attempts == 2


def test_settings_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Settings.load().rca_attempts = 3


@pytest.mark.parametrize("table", ["rca", "common"])
def test_an_unknown_key_in_the_file_is_refused_by_name(file, table):
    file(f"[{table}]\nrca_atempts = 3")
    with pytest.raises(PermanentError, match=r"settings of rca: rca_atempts: Extra inputs"):
        Settings.load()


def test_a_wrong_value_is_one_sentence_that_names_it(monkeypatch):
    monkeypatch.setenv("TOCSIN_RCA_ATTEMPTS", "many")
    with pytest.raises(PermanentError, match=r"^settings of rca: rca_attempts: Input should be"):
        Settings.load()


def test_p6_a_value_that_is_no_json_is_refused_without_being_shown(monkeypatch):
    monkeypatch.setenv("TOCSIN_RCA_TOKENS", "my-secret-token")
    with pytest.raises(PermanentError, match=r"^settings of rca: .*rca_tokens") as refused:
        Settings.load()
    assert "my-secret-token" not in str(refused.value)


@pytest.mark.parametrize("text", ["[rca", "rca_attempts = ", "\x00"])
def test_a_file_that_is_no_toml_stops_the_service(file, text):
    file(text)
    with pytest.raises(PermanentError, match="TOCSIN_CONFIG: cannot read"):
        Settings.load()


def test_a_table_that_is_none_stops_the_service(file):
    file("common = 3")
    with pytest.raises(PermanentError, match=r"'common' or 'rca' is no table"):
        Settings.load()


def test_a_missing_file_stops_the_service(monkeypatch, tmp_path):
    monkeypatch.setenv("TOCSIN_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(PermanentError, match=r"cannot read '.*none\.toml'"):
        Settings.load()


def test_p6_secrets_never_show_when_settings_are_printed(monkeypatch):
    monkeypatch.setenv("TOCSIN_RCA_TOKENS", '["my-secret-token"]')
    settings = Settings.load()
    assert settings.rca_tokens[0].get_secret_value() == "my-secret-token"
    assert "my-secret-token" not in repr(settings) + str(settings.model_dump())
