"""One folder, one Tocsin; its tokens are nobody else's business."""

import stat

import pytest

from tocsin_cli.workspace import Passwords, Up, Workspace
from tocsin_kit.errors import PermanentError
from tocsin_kit.publishes import Identity

UP = Up(gateway_url="http://g", ingest_url="http://i", nats_url="nats://n", redis_url="r", pids={})


def test_tokens_are_made_once_and_only_the_owner_may_read_them(tmp_path):
    workspace = Workspace(tmp_path)
    tokens = workspace.tokens()
    assert tokens == Workspace(tmp_path).tokens()
    assert len({tokens.ingest_token, tokens.api_token}) == 2
    assert min(len(tokens.ingest_token), len(tokens.api_token)) >= 32
    assert stat.S_IMODE((tmp_path / "tokens.json").stat().st_mode) == 0o600


def test_tokens_do_not_show_in_a_repr(tmp_path):
    tokens = Workspace(tmp_path).tokens()
    assert tokens.api_token not in repr(tokens)


def test_passwords_are_made_once_for_everybody_and_do_not_show(tmp_path):
    workspace = Workspace(tmp_path)
    made = workspace.passwords()
    assert set(made) == set(Identity)
    assert len(set(made.values())) == len(Identity)
    assert workspace.passwords() == made
    assert workspace.passwords_file.stat().st_mode & 0o777 == 0o600
    assert made[Identity.RCA] not in repr(Passwords(of=made))


def test_a_second_owner_is_refused(tmp_path):
    first, second = Workspace(tmp_path / "data"), Workspace(tmp_path / "data")
    with (
        first.claimed(),
        pytest.raises(PermanentError, match="already runs in"),
        second.claimed(),
    ):
        pass
    with second.claimed():
        pass


def test_where_it_runs_is_known_only_while_it_runs(tmp_path):
    workspace = Workspace(tmp_path)
    with workspace.claimed():
        workspace.announce(UP)
        assert Workspace(tmp_path).up() == UP
    assert workspace.up() is None


def test_a_fresh_folder_holds_nothing_of_an_earlier_run(tmp_path):
    workspace = Workspace(tmp_path / "demo")
    with workspace.fresh():
        (workspace.folder / "logs").mkdir()
        (workspace.folder / "logs" / "old.log").touch()
    with workspace.fresh():
        assert [path.name for path in workspace.folder.iterdir()] == ["lock"]


def test_a_folder_of_somebody_else_is_never_emptied(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(PermanentError, match="not Tocsin's"), Workspace(tmp_path).fresh():
        pass
    assert (tmp_path / "thesis.txt").exists()


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "up.json").write_text("{")
    with pytest.raises(PermanentError, match=r"up\.json"):
        Workspace(tmp_path).up()


def test_a_folder_that_is_not_there_is_named_and_not_made(tmp_path):
    with pytest.raises(PermanentError, match=r"there is no folder .*nowhere"):
        Workspace(tmp_path / "nowhere").tokens()
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(PermanentError, match="cannot be Tocsin's folder"),
        Workspace(tmp_path / "file" / "data").claimed(),
    ):
        pass
