"""`tocsin doctor` and `tocsin completion`: what they show, and which code they end with."""

import json

import pytest

from tocsin_cli import app
from tocsin_cli.commands import doctor
from tocsin_contracts.doctor import Condition, Finding
from tocsin_kit.errors import PermanentError


def finding(condition, thing="server", do="start it"):
    return Finding(part="bus", thing=thing, condition=condition, told="it\nis\x1b so", do=do)


@pytest.fixture
def found(monkeypatch):
    """Have every part say what a test wants."""
    told = [finding(Condition.OK)]
    asked = []

    def answer(service, *words, environment):
        asked.append((service, *words))
        return json.dumps([one.model_dump(mode="json") for one in told])

    monkeypatch.setattr(doctor, "_bus", lambda _: told)
    monkeypatch.setattr(doctor, "_store", lambda _: told)
    monkeypatch.setattr(doctor, "answer", answer)
    monkeypatch.delenv("TOCSIN_SLACK_BOT_TOKEN", raising=False)
    return told, asked


def test_everything_that_is_set_up_is_looked_at(found, capsys):
    assert app.main(["doctor", "--no-model"]) == 0
    assert found[1] == [("rca", "doctor", "--no-model"), ("action", "doctor")]
    assert capsys.readouterr().out.count("ok       bus") == 4


def test_one_part_is_looked_at_alone(found):
    assert app.main(["doctor", "slack", "--notifier-url", "http://n:1"]) == 0
    assert found[1] == [("notifier", "doctor", "--at", "http://n:1")]


@pytest.mark.parametrize(
    ("condition", "code"),
    [(Condition.PROBLEM, 1), (Condition.WARNING, 0), (Condition.UNKNOWN, 0)],
)
def test_only_a_problem_is_a_failure_and_each_line_says_what_to_do(found, capsys, condition, code):
    found[0][:] = [finding(condition)]
    assert app.main(["doctor", "bus"]) == code
    said = capsys.readouterr().out
    assert "start it" in said
    assert "\x1b" not in said


def test_findings_are_json_for_programs(found, capsys):
    assert app.main(["doctor", "store", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["condition"] == "ok"


def test_a_service_whose_settings_are_wrong_is_a_problem_of_its_part(found, monkeypatch, capsys):
    def refuse(*_, **__):
        raise PermanentError("settings of action: gitops_file: no such file")

    monkeypatch.setattr(doctor, "answer", refuse)
    assert app.main(["doctor", "forge"]) == 1
    assert "gitops_file: no such file" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script_that_calls_us(capsys, shell):
    assert app.main(["completion", shell]) == 0
    assert f"_TOCSIN_COMPLETE=complete_{shell}" in capsys.readouterr().out


def test_a_command_is_completed(monkeypatch, capsys):
    monkeypatch.setenv("_TOCSIN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "tocsin run re")
    monkeypatch.setenv("COMP_CWORD", "2")
    app.main([])
    assert capsys.readouterr().out.split() == ["reject", "rerun", "rebuild"]
