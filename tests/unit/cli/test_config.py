"""`tocsin config explain`: one look at what every service would start with."""

import json

import pytest

from tocsin_cli import app


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch):
    for name in ("CONFIG", "RCA_PORT", "LOG_LEVEL", "INGEST_TOKENS", "SENDERS", "DEV"):
        monkeypatch.delenv(f"TOCSIN_{name}", raising=False)


def explained(capsys, *arguments):
    code = app.main(["config", "explain", *arguments])
    return code, capsys.readouterr().out


def test_a_setting_its_value_and_its_source_stand_on_one_line(capsys, monkeypatch):
    monkeypatch.setenv("TOCSIN_RCA_PORT", "7")
    code, out = explained(capsys, "rca", "--changed")
    assert code == 0
    assert out == "rca\n  TOCSIN_RCA_PORT  7  (environment: TOCSIN_RCA_PORT)\n"


def test_a_flag_wins_over_the_environment(capsys, monkeypatch):
    monkeypatch.setenv("TOCSIN_RCA_PORT", "7")
    _, out = explained(capsys, "rca", "--changed", "--flag=--rca-port=8")
    assert "TOCSIN_RCA_PORT  8  (flag: --rca-port)" in out


def test_p6_a_token_is_never_printed(capsys, monkeypatch):
    monkeypatch.setenv("TOCSIN_API_TOKEN", "canary-0123456789")
    _, out = explained(capsys, "cli")
    _, plain = explained(capsys, "cli", "--json")
    assert "canary" not in out + plain
    assert "TOCSIN_API_TOKEN          **********  (environment: TOCSIN_API_TOKEN)" in out


def test_a_service_that_would_not_start_says_so_and_hides_no_other(capsys):
    code, out = explained(capsys, "ingest", "rca", "--json")
    found = json.loads(out)
    assert code == 1
    assert found["ingest"].startswith("settings of ingest: ")
    assert found["rca"][0]["variable"] == "TOCSIN_NATS_URL"


def test_a_variable_that_nobody_reads_is_named(capsys, monkeypatch):
    monkeypatch.setenv("TOCSIN_LOG_LEVLE", "DEBUG")
    monkeypatch.setenv("TOCSIN_CONFIG", "")
    assert app.main(["config", "explain", "rca", "--changed"]) == 0
    said = capsys.readouterr().err
    assert said == (
        "note: TOCSIN_LOG_LEVLE is no setting of any service; is TOCSIN_LOG_LEVEL meant?\n"
    )


def test_an_unknown_service_is_answered_with_the_known_ones(capsys):
    assert app.main(["config", "explain", "none"]) == 2
    assert "no service is called 'none'; known: ingest, rca" in capsys.readouterr().err
