import subprocess
from dataclasses import replace

import pytest

from tocsin_gitops.config import Repository
from tocsin_gitops.forges import PullRequestRequest
from tocsin_gitops.forges.commits import Kept, Seen, may_be_ours, message

PARENT = "1" * 40
REQUEST = PullRequestRequest(
    repository=Repository(name="shop/platform", paths=("**",)),
    base_branch="main",
    parent_sha=PARENT,
    head_branch="tocsin/raise-memory-0123456789",
    title="Raise the memory of api",
    body=f"It was killed.\n\nTocsin-Plan: {'a' * 64}\n",
    files={"a.yaml": b"a: 2\n", "b.yaml": b"b: 2\n"},
)
OURS = Seen("2" * 40, (PARENT,), message(REQUEST), frozenset(REQUEST.files))
OTHERS = {
    "on another parent": {"parents": ("3" * 40,)},
    "a merge": {"parents": (PARENT, "3" * 40)},
    "a root": {"parents": ()},
    "one path more": {"changed": frozenset((*REQUEST.files, "c.yaml"))},
    "another plan": {"message": message(REQUEST).replace("a" * 64, "b" * 64)},
    "no plan": {"message": "Raise the memory of api\n"},
    "another title": {"message": "Oops\n" + message(REQUEST)},
    "no words": {"message": ""},
}


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_a_blob_is_told_by_the_name_that_git_gives_it(form, tmp_path):
    def git(*args: str, data: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *args], cwd=tmp_path, input=data, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    git("init", "-q", f"--object-format={form}")
    named = git("hash-object", "--stdin", data=b"memory: 256Mi\r\n\xff")
    assert Kept(named, is_plain=True).holds(b"memory: 256Mi\r\n\xff")
    assert not Kept(named, is_plain=True).holds(b"memory: 256Mi\n\xff")
    assert not Kept(named, is_plain=False).holds(b"memory: 256Mi\r\n\xff")


def test_our_commit_is_known_though_its_message_was_trimmed_or_signed_off():
    assert may_be_ours(OURS, REQUEST)
    assert may_be_ours(replace(OURS, message=OURS.message.strip()), REQUEST)
    assert may_be_ours(replace(OURS, message=OURS.message + "Signed-off-by: a\n"), REQUEST)
    assert may_be_ours(replace(OURS, changed=frozenset({"a.yaml"})), REQUEST)


@pytest.mark.parametrize("how", OTHERS)
def test_any_other_commit_is_not_ours(how):
    assert not may_be_ours(replace(OURS, **OTHERS[how]), REQUEST)
