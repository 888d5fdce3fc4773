"""Alert in, pull request on another machine out: every service a process, a forge over HTTP."""

import pytest
import yaml

from tocsin_cli.demo import proof
from tocsin_contracts import RunState
from tocsin_testing.forges import web
from tocsin_testing.forges.bare import Bare
from tocsin_testing.forges.gitea import FakeGitea
from tocsin_testing.forges.hosting import BOT, State
from tocsin_testing.git_http import GitServer, serving
from tocsin_testing.pipeline import pipeline

pytestmark = pytest.mark.e2e

NAME, TOKEN = "shop/platform-gitops", "bot-token"


async def test_an_alert_becomes_a_pull_request_at_a_host_that_is_only_reached_by_http(tmp_path):
    owner = tmp_path / "remote/shop"
    owner.mkdir(parents=True)
    (owner / "platform-gitops.git").symlink_to(tmp_path / "platform-gitops.git")
    fake = FakeGitea(NAME, Bare(tmp_path / "platform-gitops.git"))
    git = GitServer(tmp_path / "remote", TOKEN)
    with web.serving(fake) as api, serving(git) as url:
        provider = {
            "host": "git.acme.example",
            "type": "gitea",
            "api_base": api + fake.prefix,
            "git_base": url,
            "token_env": "ACME_TOKEN",
        }
        repository = {"name": NAME, "host": "git.acme.example", "paths": ["apps/**"]}
        file = tmp_path / "remote.yaml"
        file.write_text(yaml.safe_dump({"providers": [provider], "repositories": [repository]}))
        told = {"TOCSIN_GITOPS_FILE": str(file), "ACME_TOKEN": TOKEN}
        async with pipeline(tmp_path, settings=told) as running:
            receipt = await running.fire()
            await running.reach(receipt.run_id, RunState.AWAITING_APPROVAL)
            assert fake.pulls == [], "nothing is written before the yes"
            await running.approve(receipt.run_id)
            await running.reach(receipt.run_id, RunState.PR_OPEN)
            (pull,) = fake.pulls
            assert (pull.author, pull.state, pull.base) == (BOT, State.OPEN, "main")
            assert proof.is_the_fix(proof.diff(running.scene, pull.head))
            assert TOKEN not in "\n".join(running.log)
