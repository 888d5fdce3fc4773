import hashlib

import pytest

from tocsin_contracts import CauseClass, Edit, FileChange, ObjectRef, Plan, Risk, Target
from tocsin_gitops.hashing import (
    head_branch,
    issue_key,
    plan_hash,
    with_trailer,
    without_trailer,
)

API = ObjectRef(kind="Deployment", namespace="payments", name="payments-api")
PLAN = Plan(
    issue_key="k",
    target=Target(
        host="local",
        repo="shop/gitops",
        base_branch="main",
        file="a.yaml",
        document=API,
        trace=("looked",),
    ),
    base_sha="b" * 40,
    head_branch="tocsin/x-0123456789",
    parent_sha="c" * 40,
    edits=(Edit(file="a.yaml", document=API, path=("spec", "replicas"), old=1, new=2),),
    files=(
        FileChange(path="a.yaml", mode="100644", sha256_before="1" * 64, sha256_after="2" * 64),
    ),
    diff="",
    title="Raise the limit für payments",
    body="Why",
    risk=Risk.LOW,
    checks=(),
    policy_version="v1",
)
CANONICAL = (
    '{"base_branch":"main","base_sha":"' + "b" * 40 + '",'
    '"body_sha256":"d3ae14a50bfe463f804c73c9fd16e88c36bf5a0bf4a56f98ae696a91eb2de149",'
    '"files":[{"mode":"100644","path":"a.yaml","sha256_after":"' + "2" * 64 + '",'
    '"sha256_before":"' + "1" * 64 + '"}],'
    '"head_branch":"tocsin/x-0123456789","host":"local","intent":"open",'
    '"parent_sha":"' + "c" * 40 + '","policy_version":"v1","repo":"shop/gitops","run_id":"r1",'
    '"schema":"tocsin.plan.v1","title":"Raise the limit für payments"}'
)


def test_the_hash_is_the_digest_of_the_canonical_json():
    assert plan_hash(PLAN, "r1") == hashlib.sha256(CANONICAL.encode()).hexdigest()


def changed(**fields) -> Plan:
    return PLAN.model_copy(update=fields)


def target(**fields) -> Plan:
    return changed(target=PLAN.target.model_copy(update=fields))


def file(**fields) -> Plan:
    return changed(files=(PLAN.files[0].model_copy(update=fields),))


@pytest.mark.parametrize(
    "other",
    [
        target(host="github"),
        target(repo="shop/other"),
        target(base_branch="release"),
        changed(base_sha="d" * 40),
        changed(head_branch="tocsin/y-0123456789"),
        changed(parent_sha="d" * 40),
        changed(files=()),
        changed(files=PLAN.files * 2),
        file(path="b.yaml"),
        file(mode="100755"),
        file(sha256_before=""),
        file(sha256_after="3" * 64),
        changed(title="Lower the limit"),
        changed(body="Why not"),
        changed(policy_version="v2"),
    ],
)
def test_any_change_to_what_is_bound_changes_the_hash(other):
    assert plan_hash(other, "r1") != plan_hash(PLAN, "r1")


def test_another_run_has_another_hash():
    assert plan_hash(PLAN, "r2") != plan_hash(PLAN, "r1")


@pytest.mark.parametrize("body", ["Why", "Why\n", "", "a\n\nb", "Tocsin-Plan: soon"])
def test_showing_the_hash_in_the_body_does_not_change_it(body):
    plan = changed(body=body)
    digest = plan_hash(plan, "r1")
    shown = with_trailer(body, digest)
    assert digest in shown
    assert plan_hash(changed(body=shown), "r1") == digest
    assert with_trailer(shown, digest) == shown


def test_empty_lines_are_no_trailer_however_many_there_are():
    body = "Why" + "\n" * 100_000 + "not"
    assert without_trailer(body) == body
    assert without_trailer(f"Why{chr(10) * 9}Tocsin-Plan: {'0' * 64}{chr(10) * 9}") == "Why"


def test_text_after_the_trailer_counts():
    shown = with_trailer("Why", "0" * 64)
    assert without_trailer(shown + "and more\n") != without_trailer(shown)


def test_the_key_names_cluster_place_object_and_cause():
    key = issue_key("prod", "shop/gitops", "a/b.yaml", API, CauseClass.IMAGE_TAG_NOT_FOUND)
    assert key == ("prod|shop/gitops|a/b.yaml|Deployment/payments/payments-api|image_tag_not_found")


def test_a_branch_is_readable_and_unique_to_its_key():
    branch = head_branch("k1", "payments-api: raise memory")
    assert branch == f"tocsin/payments-api-raise-memory-{hashlib.sha256(b'k1').hexdigest()[:10]}"
    assert head_branch("k2", "payments-api: raise memory") != branch


@pytest.mark.parametrize(
    "text", ["", "..", "a.lock", "@{x}", "ü" * 9, "x" * 99, "-a-", "a/b\n~^:?*["]
)
def test_a_branch_name_is_safe_whatever_it_is_made_from(text):
    slug, digest = head_branch("k", text).removeprefix("tocsin/").rsplit("-", 1)
    assert slug.replace("-", "").isalnum()
    assert slug.isascii()
    assert len(slug) <= 40
    assert len(digest) == 10
