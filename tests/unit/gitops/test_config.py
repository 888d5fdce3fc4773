from pathlib import Path

import pytest

from tocsin_gitops.bounds import Limits
from tocsin_gitops.config import GitOps, Repository, load, refuse_missing
from tocsin_kit.errors import PermanentError

EXAMPLE = Path(__file__).parents[3] / "deploy/gitops.example.yaml"
REPOSITORY = "repositories: [{name: shop/gitops, git_dir: a.git, paths: ['apps/**']}]\n"


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "gitops.yaml"
    file.write_text(text)
    return file


def test_the_example_is_a_working_file_with_the_defaults():
    config = load(EXAMPLE)
    assert config.repository("shop/platform-gitops").proposals == ("remediations/*.md",)
    assert config.limits == GitOps().limits
    assert config.auto_approve == ()


def test_the_rule_of_the_example_is_one_that_works(tmp_path):
    _, _, commented = EXAMPLE.read_text().partition("# auto_approve:\n")
    rules = "auto_approve:\n" + commented.replace("\n# ", "\n").removeprefix("# ")
    (rule,) = load(written(tmp_path, REPOSITORY + rules)).auto_approve
    assert (rule.name, rule.factor) == ("memory-up", 2)


def test_two_rules_of_one_name_are_refused(tmp_path):
    _, _, commented = EXAMPLE.read_text().partition("# auto_approve:\n")
    rule = commented.replace("\n# ", "\n").removeprefix("# ")
    with pytest.raises(PermanentError, match="two rules have the same name"):
        load(written(tmp_path, f"{REPOSITORY}auto_approve:\n{rule}{rule}"))


def test_a_git_dir_is_relative_to_the_file(tmp_path):
    config = load(written(tmp_path, REPOSITORY))
    assert config.repositories[0].git_dir == tmp_path / "a.git"
    absolute = load(written(tmp_path, REPOSITORY.replace("a.git", "/srv/a.git")))
    assert absolute.repositories[0].git_dir == Path("/srv/a.git")


def test_however_the_file_is_named_the_policy_is_the_same(tmp_path, monkeypatch):
    file = written(tmp_path, REPOSITORY)
    monkeypatch.chdir(tmp_path)
    assert load(Path(file.name)) == load(file)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("repositorys: []", "repositorys"),
        ("repositories: [{name: a, git_dir: b}]", "repositories.0.paths"),
        ("repositories: [{name: a, git_dir: b, paths: [], token: x}]", "repositories.0.token"),
        ("limits: {max_files: none}", "limits.max_files"),
        ("limits: {max_files: 0}", "limits.max_files"),
        ("limits: {}\nlimits: {}", "stands twice"),
        ("- a", "the file"),
        ("a: [", "not plain YAML"),
        ("a: 1\n---\nb: 2", "document"),
        (REPOSITORY.replace("]\n", ", {name: shop/gitops, git_dir: b, paths: []}]"), "shop/gitops"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_the_key(tmp_path, text, key):
    file = written(tmp_path, text)
    with pytest.raises(PermanentError) as error:
        load(file)
    assert repr(str(file)) in str(error.value)
    assert key in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PermanentError, match=r"none\.yaml"):
        load(tmp_path / "none.yaml")


def test_an_empty_file_allows_nothing(tmp_path):
    assert load(written(tmp_path, "# nothing\n")).policy.repositories == ()


def test_an_unknown_repository_is_answered_with_the_known_ones(tmp_path):
    with pytest.raises(PermanentError, match="known: shop/gitops"):
        load(written(tmp_path, REPOSITORY)).repository("attacker/x")


def test_a_repository_serves_its_own_cluster_and_namespaces():
    repository = Repository(
        name="a", git_dir=Path("a"), paths=(), cluster="prod", namespaces=("payments",)
    )
    asked = [("prod", "payments"), ("", "payments"), ("test", "payments"), ("prod", "shop")]
    assert [repository.serves(*pair) for pair in asked] == [True, True, False, False]
    config = GitOps(repositories=(repository,))
    assert config.serving("prod", "payments") == (repository,)
    assert config.serving("test", "payments") == ()


def allowing(**changes) -> GitOps:
    fields = {"name": "a", "git_dir": Path("a"), "paths": ("**",)} | changes
    return GitOps(repositories=(Repository(**fields),))


@pytest.mark.parametrize(
    "changed",
    [
        *({"name": "b"}, {"git_dir": Path("b")}, {"branch": "live"}),
        *({"paths": ("apps/**",)}, {"proposals": ()}),
        *({"cluster": "prod"}, {"namespaces": ("payments",)}),
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_the_policy_version_follows_everything_about_a_repository(changed):
    assert allowing(**changed).policy.version != allowing().policy.version
    assert allowing(**changed).policy.version == allowing(**changed).policy.version


def remote(**changes) -> GitOps:
    fields = {"name": "shop/gitops", "host": "github.com", "paths": ("**",)} | changes
    return GitOps(repositories=(Repository(**fields),))


def test_the_policy_version_follows_host_and_name_of_a_remote_repository():
    versions = {
        remote(**changed).policy.version
        for changed in ({}, {"host": "gitlab.com"}, {"name": "shop/other"}, {"branch": "live"})
    }
    assert len(versions) == 4


def test_the_policy_version_does_not_follow_where_a_copy_lies(tmp_path):
    text = "repositories: [{name: shop/gitops, host: github.com, paths: ['**']}]\n"
    here = load(written(tmp_path, text))
    (tmp_path / "deeper").mkdir()
    there = load(written(tmp_path / "deeper", text + "mirrors: elsewhere\n"))
    assert here.repositories[0].git_dir == tmp_path / ".tocsin/mirrors/github.com/shop/gitops.git"
    assert there.repositories[0].git_dir.is_relative_to(tmp_path / "deeper/elsewhere")
    assert here.policy.version == there.policy.version


REMOTE = "repositories: [{name: shop/gitops, host: git.acme.example, paths: []}]\n"
PROVIDER = "providers: [{host: git.acme.example, type: gitea}]\n"


def test_an_entry_wins_over_what_is_known_of_a_host(tmp_path):
    text = "providers: [{host: github.com, type: github, token_env: OUR_TOKEN}]\n"
    found = load(written(tmp_path, text)).provider("github.com")
    assert (found.token_env, found.variables) == ("OUR_TOKEN", ("OUR_TOKEN",))
    assert load(written(tmp_path, "")).provider("github.com").token_env == "GITHUB_TOKEN"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (REMOTE, "no provider has the host"),
        (PROVIDER.replace("]", ", {host: git.acme.example, type: gitlab}]"), "two providers"),
        (PROVIDER.replace("git.acme", "Git.Acme"), "providers.0.host"),
        (PROVIDER.replace("git.acme.example", "https://git.acme.example"), "providers.0.host"),
        (PROVIDER.replace("git.acme.example", "local"), "needs no entry"),
        (PROVIDER.replace("type: gitea", "type: local"), "needs no entry"),
        (PROVIDER.replace("}", ", api_base: 'http://git.acme.example/api'}"), "https://"),
        (PROVIDER.replace("}", ", git_base: 'ssh://git.acme.example'}"), "https://"),
        (PROVIDER.replace("}", ", git_base: 'https://a:b@git.acme.example'}"), "without user"),
        (PROVIDER.replace("}", ", git_base: 'https://git.acme.example:x'}"), "git_base: "),
        (PROVIDER.replace("}", ", api_base: 'https://git.acme.example:99999'}"), "api_base: "),
        (PROVIDER.replace("}", ", api_base: 'https://git.acme.example/a b'}"), "plain address"),
        (PROVIDER.replace("}", ", proxy: 'socks5://proxy.example'}"), "http://"),
        (PROVIDER.replace("}", ", proxy: 'http://a:b@proxy.example'}"), "without user"),
        (PROVIDER.replace("}", ", token_env: ghp_0123456789}"), "providers.0.token_env"),
        (PROVIDER.replace("}", ", app_id: '1', app_key_env: KEY}"), "for GitHub only"),
        ("providers: [{host: a.b, type: github, app_id: '1'}]", "go together"),
        ("providers: [{host: a.b, type: github, app_key_env: KEY}]", "go together"),
        (PROVIDER + REMOTE.replace("shop/gitops", "gitops"), "owner/name"),
        (PROVIDER + REMOTE.replace("shop/gitops", "../gitops"), "owner/name"),
        (PROVIDER + REMOTE.replace("shop/gitops", "shop/.."), "owner/name"),
        (PROVIDER + REMOTE.replace("shop/gitops", "./gitops"), "owner/name"),
        (PROVIDER + REMOTE.replace("shop/gitops", "shop/gitops.git"), "without .git"),
        (PROVIDER + REMOTE.replace("shop/gitops", "shop/.git"), "without .git"),
        (PROVIDER + REMOTE.replace("shop/gitops", "shop.git/gitops"), "without .git"),
        (PROVIDER + REMOTE.replace("shop/gitops", "shop/team/gitops"), "only GitLab"),
        (PROVIDER + REMOTE.replace("paths", "git_dir: a.git, paths"), "of this machine"),
        (PROVIDER + REMOTE.replace("paths", "branch: tocsin/x, paths"), "can be no branch"),
        (PROVIDER + REMOTE.replace("paths", "branch: 'a:b', paths"), "can be no branch"),
        (PROVIDER + REMOTE.replace("paths", "branch: '+a', paths"), "can be no branch"),
    ],
)
def test_a_place_that_cannot_be_is_refused_at_the_start(tmp_path, text, why):
    with pytest.raises(PermanentError) as error:
        load(written(tmp_path, text))
    assert why in str(error.value)
    assert "0123456789" not in str(error.value)


@pytest.mark.parametrize("base", ["http://127.0.0.1:3000", "http://localhost", "http://[::1]:80"])
def test_without_https_only_this_machine_is_reached(tmp_path, base):
    text = PROVIDER.replace("}", f", git_base: '{base}', api_base: '{base}/api/v1/'}}")
    (provider,) = load(written(tmp_path, text)).providers
    assert (provider.git_base, provider.api_base) == (base, f"{base}/api/v1")


def test_groups_in_groups_are_names_at_gitlab(tmp_path):
    text = REMOTE.replace("shop/gitops", "shop/team/gitops")
    config = load(written(tmp_path, PROVIDER.replace("gitea", "gitlab") + text))
    assert config.remote_providers == config.providers


def test_a_name_may_begin_with_a_dot_and_its_copy_stays_in_its_place(tmp_path):
    config = load(written(tmp_path, PROVIDER + REMOTE.replace("shop/gitops", "shop/.github")))
    place = tmp_path / ".tocsin/mirrors/git.acme.example/shop/.github.git"
    assert config.repository("shop/.github").git_dir == place


def test_no_part_of_a_repository_is_forgotten_in_the_policy_version():
    told = allowing().policy.model_dump(serialize_as_any=True)["repositories"][0]
    assert told.keys() == Repository.model_fields.keys()


def test_the_policy_version_follows_the_limits():
    wider = allowing().model_copy(update={"limits": Limits(max_files=4)})
    assert wider.policy.version != allowing().policy.version
    assert GitOps().policy.version != allowing().policy.version


def test_a_repository_that_is_not_there_is_refused_by_its_name(tmp_path):
    (tmp_path / "gitops.yaml").write_text(
        'repositories: [{name: shop/gitops, git_dir: nowhere.git, paths: ["**"]}]'
    )
    loaded = load(tmp_path / "gitops.yaml")
    with pytest.raises(PermanentError, match=r"'shop/gitops': .*nowhere\.git.* is no bare git"):
        refuse_missing(loaded)
    (tmp_path / "nowhere.git").mkdir()
    (tmp_path / "nowhere.git" / "HEAD").write_text("ref: refs/heads/main")
    refuse_missing(loaded)
    refuse_missing(remote())
