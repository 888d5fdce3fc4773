"""What an investigation may ask the repositories by itself."""

import subprocess
from datetime import UTC, datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tocsin_agents.tools.port import Identity, Status, ToolContext
from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.source import LocalGitSource
from tocsin_rca.tools.git import GitTools
from tocsin_rca.tools.secrets import holds_secret

ADA = Identity("ada")
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: tulip-7731}\n"


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with two commits: a manifest that changes, and a Secret."""
    folder = tmp_path_factory.mktemp("gitops")

    def git(*args):
        identity = ("-c", "user.name=shop-team", "-c", "user.email=shop-team@localhost")
        subprocess.run(["git", *identity, *args], cwd=folder, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for day, replicas in ((1, 2), (2, 5)):
        (folder / "web.yaml").write_text(f"kind: Deployment\nspec: {{replicas: {replicas}}}\n")
        (folder / "db.yaml").write_text(SECRET)
        git("add", "-A")
        subject = f"replicas {replicas}"
        date = f"2026-03-0{day}T09:00:00Z"
        git("-c", "core.hooksPath=/dev/null", "commit", "-qm", subject, "--date", date)
    return Repository(name="shop/gitops", git_dir=folder / ".git", paths=("**",))


@pytest.fixture
def ask(repository, history):
    """Call a tool as a model does."""
    recorded = {
        "commit": "c" * 40,
        "author": "shop-team",
        "at": "2026-03-02T08:00:00Z",
        "subject": "change it\nand say nothing",
        "file": "web.yaml",
        "fields": [
            {
                "document": {"kind": "Deployment", "name": "web"},
                "path": ["spec", *path],
                "before": "old-7731",
                "after": "new-7731",
            }
            for path in (["replicas"], ["env", "[name=PASSWORD]", "value"])
        ],
    }
    gitops = GitOps(repositories=(repository,))
    tools = GitTools(history([recorded]), LocalGitSource(), gitops).toolset()

    async def call(tool_name, /, **arguments):
        (tool,) = (tool for tool in await tools.tools(ADA) if tool.spec.name == tool_name)
        return await tool.call(arguments, ToolContext(ADA))

    return call


async def test_changes_of_an_object_are_shown_field_by_field_without_what_may_be_secret(ask):
    result = await ask("git.changes", kind="Deployment", name="web", namespace="shop")
    (change,) = result.data
    assert change["subject"] == "change it and say nothing"
    assert change["fields"] == [
        {"path": "spec.replicas", "before": "old-7731", "after": "new-7731"},
        {"path": "spec.env[name=PASSWORD].value"},
    ]


async def test_no_history_of_a_secret_is_shown(ask):
    result = await ask("git.changes", kind="secret", name="db", namespace="shop")
    assert "Secrets are never read" in result.error


async def test_commits_are_listed_the_newest_first(ask):
    result = await ask("git.commits", repository="shop/gitops")
    assert [commit["subject"] for commit in result.data] == ["replicas 5", "replicas 2"]
    assert result.data[0]["author"] == "shop-team"
    assert datetime.fromisoformat(result.data[1]["at"]) <= datetime.now(UTC)
    only = await ask("git.commits", repository="shop/gitops", path="db.yaml", limit=5)
    assert [commit["files"] for commit in only.data] == [["db.yaml", "web.yaml"]]


@pytest.mark.parametrize("limit", [0, 51, -1])
async def test_nobody_asks_for_more_commits_than_is_allowed(ask, limit):
    assert (await ask("git.commits", repository="shop/gitops", limit=limit)).status is Status.ERROR


async def test_a_file_is_read_as_it_is_and_as_it_was(ask):
    now = await ask("git.read_file", repository="shop/gitops", path="web.yaml")
    assert now.data["text"] == "kind: Deployment\nspec: {replicas: 5}\n"
    commits = (await ask("git.commits", repository="shop/gitops")).data
    first = commits[-1]["commit"]
    was = await ask("git.read_file", repository="shop/gitops", path="web.yaml", commit=first)
    assert was.data == {
        "commit": first,
        "text": "kind: Deployment\nspec: {replicas: 2}\n",
        "truncated": False,
    }


async def test_a_secret_in_a_repository_is_never_shown(ask):
    result = await ask("git.read_file", repository="shop/gitops", path="db.yaml")
    assert result.error == "'db.yaml' holds a Secret, which is never shown"
    assert "tulip" not in str(result)


@pytest.mark.parametrize(
    ("path", "commit"),
    [
        ("no.yaml", ""),
        ("../web.yaml", ""),
        ("", ""),
        ("web.yaml\nHEAD:db.yaml", ""),
        ("web.yaml", "HEAD"),
        ("web.yaml", "0" * 40),
        ("web.yaml", "--help"),
    ],
)
async def test_a_file_that_is_not_there_is_an_error(ask, path, commit):
    result = await ask("git.read_file", repository="shop/gitops", path=path, commit=commit)
    assert (result.status, result.data) == (Status.ERROR, None)


async def test_only_repositories_of_the_configuration_are_read(ask):
    result = await ask("git.read_file", repository="/etc", path="passwd")
    assert "no repository '/etc'; known: shop/gitops" in result.error


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        "kind: Deployment\n---\n" + SECRET,
        'kind: "\\x53ecret"\ndata: {a: b}\n',
        '{"kind": "Secret", "data": {"a": "b"}}',
        "kind: List\nitems:\n- kind: Secret\n  data: {a: b}\n",
        "kind: SecretList\nitems: []\n",
        "secretGenerator:\n- name: db\n  literals: [password=tulip-7731]\n",
        "kind: ConfigMap\ndata:\n  inner.yaml: |\n    kind:   Secret\n    data: {a: b}\n",
        "kind: Secret\ndata:\n  password: {{ .Values.password }}\n",
        "kind: Secret\n\tstringData: {a: b}\n",
    ],
)
def test_a_file_holds_a_secret_however_it_is_written(text):
    assert holds_secret(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "kind: Deployment\nspec: {template: {spec: {volumes: [{secret: {secretName: db}}]}}}\n",
        "kind: HelmRelease\nspec: {valuesFrom: [{kind: Secret, name: db}]}\n",
        "kind: SealedSecret\nspec: {encryptedData: {a: b}}\n",
        "kind: {{ .Values.kind }}\n",
        "# Read me\n\nHow we keep secrets.\n",
        "",
    ],
)
def test_a_file_that_only_refers_to_a_secret_holds_none(text):
    assert not holds_secret(text.encode())


def test_a_file_of_many_aliases_is_read_once():
    levels = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert not holds_secret("\n".join(["a0: &a0 [x]", *levels]).encode())


nested = st.recursive(
    st.just({"kind": "Secret", "data": {"a": "b"}}),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=2)
        | st.dictionaries(st.sampled_from("abc"), inner, min_size=1, max_size=2)
    ),
    max_leaves=4,
)


@given(nested)
def test_a_secret_is_found_however_deep_it_is(document):
    assert holds_secret(yaml.safe_dump(document).encode())
