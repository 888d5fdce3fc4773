import sys

import pytest

from tocsin_agents.limits.budgets import Limits
from tocsin_agents.models import litellm_client
from tocsin_kit.errors import NEVER_STARTS, PermanentError
from tocsin_rca import app, assembly
from tocsin_rca.__main__ import main
from tocsin_rca.settings import Settings

REPOSITORY = "repositories: [{name: shop/gitops, git_dir: a.git, paths: ['apps/**']}]\n"


def test_a_snapshot_that_is_not_there_ends_the_start_with_one_line(tmp_path, monkeypatch, capsys):
    snapshot, gitops = str(tmp_path / "nowhere"), tmp_path / "gitops.yaml"
    gitops.write_text(REPOSITORY)
    flags = ["--cluster-snapshot", snapshot, "--gitops-file", str(gitops)]
    monkeypatch.setattr(sys, "argv", ["tocsin-rca", *flags])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == NEVER_STARTS
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"tocsin: no snapshot at {snapshot!r}")


def test_a_limit_of_a_run_that_is_not_named_keeps_its_default():
    given = Settings(investigation_limits={"run": {"tokens": 9, "money": None}})
    usual = Limits().run
    assert given.investigation_limits.run == usual.model_copy(update={"tokens": 9})
    assert Settings().investigation_limits == Limits()


def test_what_a_model_cannot_work_with_ends_the_start(tmp_path, monkeypatch):
    (tmp_path / "gitops.yaml").write_text(REPOSITORY)
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "all.yaml").write_text("# nothing\n")
    flags = [f"--gitops-file={tmp_path / 'gitops.yaml'}", f"--cluster-snapshot={snapshot}"]
    warmed = []
    monkeypatch.setattr(litellm_client, "warm_up", lambda: warmed.append(True))
    with pytest.raises(PermanentError, match="write provider/name"):
        app.build([*flags, "--model=nameless"])
    warmed.clear()
    app.build([*flags, "--model=openai/own"])
    assert warmed == [True]
    with pytest.raises(PermanentError, match="'jira'"):
        app.build([*flags, "--model=openai/own", '--toolsets=["jira"]'])
    with pytest.raises(PermanentError, match="there is no folder"):
        app.build([*flags, "--model=openai/own", f"--skills-dir={tmp_path / 'nowhere'}"])


def test_instructions_that_cannot_be_read_end_the_start(tmp_path):
    file = tmp_path / "global.md"
    with pytest.raises(PermanentError, match="cannot be read"):
        assembly.taught(Settings(instructions_file=file))
    file.write_text("Be brief.")
    assert assembly.taught(Settings(instructions_file=file)).instructions
    assert assembly.taught(Settings()).instructions == ""
