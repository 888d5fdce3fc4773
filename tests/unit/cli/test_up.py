"""What `tocsin up` and `tocsin demo` say about where things are, and what they keep secret."""

import pytest

from tocsin_cli import app, stack
from tocsin_cli.commands import demo
from tocsin_cli.commands.up import greeting, without_password
from tocsin_cli.demo.stage import Stage
from tocsin_cli.errors import ExitCode
from tocsin_cli.workspace import Up, Workspace
from tocsin_cli.world import World
from tocsin_kit.errors import PermanentError

UP = Up(
    gateway_url="http://127.0.0.1:9481",
    ingest_url="http://127.0.0.1:9480",
    nats_url="nats://tocsin:c4nary@bus:4222,nats://c4nary@bus2:4222",
    redis_url="redis://:c4nary@store:6379/0",
    pids={},
)


def test_p6_the_greeting_shows_addresses_without_passwords(tmp_path):
    said = "\n".join(greeting(UP, Workspace(tmp_path), World()))
    assert "c4nary" not in said
    assert "nats://[redacted]@bus:4222,nats://[redacted]@bus2:4222" in said
    assert "redis://[redacted]@store:6379/0" in said


def test_the_greeting_says_where_the_tokens_are(tmp_path):
    workspace = Workspace(tmp_path)
    tokens = workspace.tokens()
    said = "\n".join(greeting(UP, workspace, World()))
    assert f"tokens    {tmp_path / 'tokens.json'}" in said
    assert (tmp_path / "tokens.json").exists()
    assert tokens.ingest_token not in said
    assert tokens.api_token not in said


def test_the_greeting_says_that_an_empty_recording_shows_nothing(tmp_path):
    folder = tmp_path / "snapshot"
    folder.mkdir()
    said = "\n".join(greeting(UP, Workspace(tmp_path), World(snapshot=folder)))
    assert f"{folder} (empty: there is nothing to look at" in said
    (folder / "pods.yaml").write_text("")
    said = "\n".join(greeting(UP, Workspace(tmp_path), World(snapshot=folder)))
    assert f"cluster   {folder}\n" in said


def test_a_setting_that_no_service_has_is_refused_with_the_one_that_may_be_meant(capsys):
    assert app.main(["up", "--env", "TOCSIN_RCA_PROT=9"]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert "TOCSIN_RCA_PROT is no setting of any service; is TOCSIN_RCA_PORT meant?" in said


@pytest.mark.parametrize("url", ["nats://127.0.0.1:4222", "redis://h/0?who=me@home", ""])
def test_an_address_without_a_password_stays_as_it_is(url):
    assert without_password(url) == url


def suggested(stage: Stage) -> list[str]:
    lines = demo.look_further(stage, Workspace(stage.folder), keep=False)
    (listing,) = (line for line in lines if line.startswith("  ls "))
    return listing.split()[1:]


def test_the_demo_suggests_to_look_only_at_what_exists(tmp_path):
    stage = Stage(tmp_path)
    assert suggested(stage) == [str(tmp_path / "logs")]
    stage.records.mkdir()
    assert suggested(stage) == [str(stage.records), str(tmp_path / "logs")]


async def test_a_demo_insists_on_no_port_so_that_two_can_run(tmp_path, monkeypatch):
    asked = []

    def running(*_, usual):
        asked.append(usual)
        raise PermanentError("as far as this test goes")

    monkeypatch.setattr(stack, "running", running)
    monkeypatch.setattr(demo, "cancel_on_signal", lambda: None)
    with pytest.raises(PermanentError, match="as far as"):
        await demo._run(Workspace(tmp_path / "demo"), says_yes=True, keep=False)
    assert asked == [{}]
