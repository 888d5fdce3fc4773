"""Whoever asks why a setting is what it is gets one answer, and never a secret."""

from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import BaseModel, Field, SecretStr

from tocsin_kit.errors import PermanentError
from tocsin_kit.origins import Origin, explain
from tocsin_kit.settings import LogLevel, ServiceSettings


class Door(BaseModel):
    url: str = ""
    token: SecretStr = SecretStr("")


class Settings(ServiceSettings):
    service: ClassVar[str] = "rca"

    rca_attempts: int = Field(default=2, description="Tries.")
    rca_keys: dict[str, SecretStr] = Field(default_factory=dict, description="Secrets.")
    rca_door: Door = Field(default=Door(), description="A door.")
    rca_folder: Path | None = Field(default=None, description="A folder.")


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    for name in ("CONFIG", "LOG_LEVEL", "NATS_URL", "HOST", "CONCURRENCY"):
        monkeypatch.delenv(f"TOCSIN_{name}", raising=False)

    def write(text):
        path = tmp_path / "tocsin.toml"
        path.write_text(text)
        monkeypatch.setenv("TOCSIN_CONFIG", str(path))

    return write


def asked(name, flags=()):
    (found,) = [one for one in explain(Settings, flags) if one.variable == f"TOCSIN_{name}"]
    return found.value, found.origin, found.where


def test_every_setting_is_explained():
    explained = [one.variable for one in explain(Settings)]
    assert explained == [f"TOCSIN_{name.upper()}" for name in Settings.model_fields]
    assert {one.origin for one in explain(Settings)} == {Origin.DEFAULT}


def test_the_source_that_wins_is_the_one_that_is_named(file, monkeypatch):
    assert asked("RCA_ATTEMPTS") == ("2", Origin.DEFAULT, "")
    file("[common]\nrca_attempts = 3")
    assert asked("RCA_ATTEMPTS") == ("3", Origin.FILE, "[common] in TOCSIN_CONFIG")
    file("[common]\nrca_attempts = 3\n[rca]\nrca_attempts = 4")
    assert asked("RCA_ATTEMPTS") == ("4", Origin.FILE, "[rca] in TOCSIN_CONFIG")
    monkeypatch.setenv("TOCSIN_RCA_ATTEMPTS", "5")
    assert asked("RCA_ATTEMPTS") == ("5", Origin.ENVIRONMENT, "TOCSIN_RCA_ATTEMPTS")
    assert asked("RCA_ATTEMPTS", ["--rca-attempts", "6"]) == ("6", Origin.FLAG, "--rca-attempts")
    assert asked("RCA_ATTEMPTS", ["--rca-attempts=7"]) == ("7", Origin.FLAG, "--rca-attempts")


def test_a_value_is_written_as_it_would_be_set(monkeypatch):
    monkeypatch.setenv("TOCSIN_LOG_LEVEL", "DEBUG")
    monkeypatch.setenv("TOCSIN_RCA_FOLDER", "a b/c")
    assert asked("LOG_LEVEL")[0] == LogLevel.DEBUG
    assert asked("RCA_FOLDER")[0] == "a b/c"


def test_p6_no_secret_is_shown_however_deep_it_lies(monkeypatch):
    monkeypatch.setenv("TOCSIN_RCA_KEYS", '{"a": "canary-0123456789"}')
    monkeypatch.setenv("TOCSIN_RCA_DOOR", '{"url": "x", "token": "canary-0123456789"}')
    monkeypatch.setenv("TOCSIN_NATS_URL", "nats://ana:canary-0123456789@bus:4222")
    assert [one for one in explain(Settings) if "canary" in one.model_dump_json()] == []
    assert asked("RCA_KEYS")[0] == '{"a":"**********"}'


def test_what_would_not_start_is_not_explained(monkeypatch):
    monkeypatch.setenv("TOCSIN_RCA_ATTEMPTS", "many")
    with pytest.raises(PermanentError, match="settings of rca: rca_attempts"):
        explain(Settings)
