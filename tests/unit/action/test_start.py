"""What action needs before it takes its first message."""

import pytest

from tocsin_action import app
from tocsin_kit.errors import PermanentError

TOKEN = "tok-0123456789-abcdefghij"


@pytest.fixture
def flags(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)
    file = tmp_path / "gitops.yaml"
    file.write_text("repositories: [{name: shop/gitops, host: github.com, paths: ['apps/**']}]\n")
    return [f"--gitops-file={file}"]


def test_without_the_token_of_a_host_action_does_not_start_and_says_which(flags):
    with pytest.raises(PermanentError, match=r"github\.com: .*GITHUB_TOKEN"):
        app.build(flags)


def test_no_log_line_of_action_will_show_the_token(flags, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    service = app.build(flags)
    assert TOKEN in service.secrets
    assert TOKEN not in repr(service)
