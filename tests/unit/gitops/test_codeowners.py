"""Owners of files as each forge reads them: the last rule that matches, or all of them."""

from textwrap import dedent

import pytest

from tocsin_contracts.owners import FileOwners
from tocsin_gitops import codeowners
from tocsin_gitops.providers import HostType

GITHUB, GITLAB, GITEA = HostType.GITHUB, HostType.GITLAB, HostType.GITEA


def owners(text, path, host=GITHUB):
    found = codeowners.owners(host, dedent(text), [path])
    return [(one.section, one.owners) for one in found]


def owner(text, path, host=GITHUB):
    """Return whose the file is by a text that has no sections."""
    found = owners(text, path, host)
    assert len(found) <= 1
    return found[0][1] if found else ()


@pytest.mark.parametrize(
    ("pattern", "path", "is_theirs"),
    [
        ("*", "a.yaml", True),
        ("*", "apps/shop/a.yaml", True),
        ("*.yaml", "apps/shop/a.yaml", True),
        ("*.yaml", "apps/shop/a.yml", False),
        ("/apps/", "apps/shop/a.yaml", True),
        ("/apps/", "other/apps/a.yaml", False),
        ("apps/", "other/apps/a.yaml", True),
        ("/apps", "apps/a.yaml", True),
        ("/apps/*", "apps/a.yaml", True),
        ("/apps/*", "apps/shop/a.yaml", False),
        ("apps/shop", "apps/shop/a.yaml", True),
        ("apps/shop", "x/apps/shop/a.yaml", False),
        ("**/prod", "apps/shop/prod/a.yaml", True),
        ("/apps/**/prod/", "apps/prod/a.yaml", True),
        ("/apps/**/prod/", "apps/x/y/prod/z/a.yaml", True),
        ("/apps/**", "apps/x/y/a.yaml", True),
        ("/apps/s?op/", "apps/shop/a.yaml", True),
        ("/apps/[s]hop/", "apps/shop/a.yaml", False),
        (r"/apps/a\ b.yaml", "apps/a b.yaml", True),
    ],
)
def test_a_pattern_means_what_it_means_to_the_forge(pattern, path, is_theirs):
    assert owner(f"{pattern} @ana", path) == (("@ana",) if is_theirs else ())


def test_the_last_rule_that_matches_wins():
    text = """\
        * @ops   # everything else
        /apps/ @shop/apps @bo

        /apps/free/
        """
    assert owner(text, "README.md") == ("@ops",)
    assert owner(text, "apps/a.yaml") == ("@shop/apps", "@bo")
    assert owner(text, "apps/free/a.yaml") == ()


def test_what_is_no_owner_is_none():
    assert owner("* ana @bo a@b.example nonsense@", "a") == ("@bo", "a@b.example")


def test_a_section_has_owners_of_its_own_and_each_has_to_agree():
    text = """\
        * @ops
        [Apps][2] @shop/apps
        /apps/
        /apps/free/ @cy
        [Security]
        *.yaml @sec
        ^[Docs] @writers
        *
        """
    assert owners(text, "apps/a.yaml", GITLAB) == [
        ("", ("@ops",)),
        ("apps", ("@shop/apps",)),
        ("security", ("@sec",)),
    ]
    assert ("apps", ("@cy",)) in owners(text, "apps/free/x", GITLAB)


def test_an_exception_of_a_section_is_nobodys_there():
    text = "[Apps] @shop/apps\n/apps/\n!/apps/free/\n"
    assert owners(text, "apps/free/a", GITLAB) == []


def test_a_folder_needs_its_slash_where_the_forge_wants_one():
    assert owner("/apps @ana", "apps/a.yaml", GITLAB) == ()
    assert owner("apps/a.yaml @ana", "x/apps/a.yaml", GITLAB) == ("@ana",)


def test_a_header_is_a_strange_pattern_elsewhere():
    assert owner("[Apps] @ana", "apps/a.yaml") == ()


def test_every_expression_that_matches_has_its_owners():
    text = """\
        .*\\.yaml @ana
        apps/.* @bo @ana
        !docs/.* @cy
        """
    assert owner(text, "apps/a.yaml", GITEA) == ("@ana", "@bo", "@cy")
    assert owner(text, "docs/a.yaml", GITEA) == ("@ana",)


@pytest.mark.parametrize("rule", ["(a+)+b", "a*b*c*d*e", "(a|a)*b", "(?:x)", "a{1,9}.*.*.*", "["])
def test_p3_an_expression_that_may_take_for_ever_is_not_tried_and_leaves_nobody(rule):
    ((section, who), *_) = owners(f"{rule} @ana", "a" * 60, GITEA)
    assert who == ()
    assert "not understood" in section


def test_patterns_from_a_repository_take_no_time():
    hostile = "\n".join(f"/{'*a' * 40}/{'**/' * 20}b @ana" for _ in range(20))
    assert owner(hostile, "/".join(["a" * 40] * 20)) == ()


def test_each_path_is_told_with_its_own():
    found = codeowners.owners(GITHUB, "/a @ana\n/b @bo\n", ["a", "b", "c"])
    assert found == (
        FileOwners(path="a", owners=("@ana",)),
        FileOwners(path="b", owners=("@bo",)),
    )
