"""Which repository a URL of git means: however it is spelled, and never another one."""

from pathlib import Path

import pytest

from tocsin_gitops.config import GitOps, Repository
from tocsin_gitops.providers import Provider
from tocsin_gitops.remotes import Match, matches, remote

NAME = "shop/platform-gitops"


def repository(**fields) -> Repository:
    return Repository(**{"name": NAME, "host": "github.com", "paths": ("**",), **fields})


def match(url, one, *providers):
    return matches(GitOps(providers=providers), one, url)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/shop/platform-gitops",
        "https://github.com/shop/platform-gitops.git",
        "https://github.com/shop/platform-gitops/",
        "https://GitHub.com/Shop/Platform-GitOps.git",
        "https://somebody:secret@github.com/shop/platform-gitops.git",
        "https://github.com:443/shop//platform-gitops.git",
        "http://github.com:80/shop/platform-gitops",
        "git@github.com:shop/platform-gitops.git",
        "git@github.com:/shop/platform-gitops.git",
        "ssh://git@github.com/shop/platform-gitops.git",
        "ssh://git@github.com:22/shop/platform-gitops",
        "ssh://git@ssh.github.com:443/shop/platform-gitops.git",
        "  https://github.com/shop/platform%2Dgitops ",
    ],
)
def test_every_spelling_of_a_repository_is_that_repository(url):
    assert match(url, repository()) is Match.YES


@pytest.mark.parametrize(
    "url",
    [
        "https://gitlab.com/shop/platform-gitops",
        "https://github.com.evil.example/shop/platform-gitops",
        "https://github.com@evil.example/shop/platform-gitops",
        "https://github.com:8443/shop/platform-gitops",
        "https://github.com/shop/platform-gitops/more",
        "https://github.com/shop/other/../platform-gitops",
        "https://github.com/platform-gitops",
        "git@evil.example:github.com/shop/platform-gitops.git",
        "https://[broken/shop/platform-gitops",
        "https://github.com:port/shop/platform-gitops",
        "oci://github.com/",
        "shop/platform-gitops",
        "",
    ],
)
def test_what_only_looks_like_it_is_not(url):
    assert match(url, repository()) is Match.NO


def test_a_port_of_the_web_belongs_to_the_host_and_that_of_ssh_does_not():
    one = repository(host="git.example.com:8443")
    assert match(f"https://git.example.com:8443/{NAME}.git", one) is Match.YES
    assert match(f"ssh://git@git.example.com:2222/{NAME}.git", one) is Match.YES
    assert match(f"https://git.example.com/{NAME}.git", one) is Match.NO


def test_a_provider_says_where_its_repositories_are_cloned_from():
    provider = Provider(host="code", type="gitea", git_base="https://example.com/gitea/")
    assert (
        match(f"https://example.com/gitea/{NAME}", repository(host="code"), provider) is Match.YES
    )
    assert match(f"https://example.com/{NAME}", repository(host="code"), provider) is Match.NO


def test_a_local_copy_is_told_by_its_name_or_by_what_the_operator_says(tmp_path):
    one = repository(host="local", git_dir=tmp_path / "copy.git")
    assert match(f"https://github.com/{NAME}", one) is Match.YES
    assert match("https://github.com/shop/other", one) is Match.UNKNOWN
    assert match((tmp_path / "copy.git").as_uri(), one) is Match.YES
    assert match("/srv/other.git", one) is Match.NO
    said = repository(host="local", git_dir=Path("x"), urls=("git@github.com:shop/other.git",))
    assert match("https://github.com/shop/other", said) is Match.YES
    assert match(f"https://github.com/{NAME}", said) is Match.NO


def test_who_logs_in_is_never_shown():
    assert str(remote("https://me:secret@git.example.com:8443/a/b.git")) == (
        "git.example.com:8443/a/b"
    )
