"""What forges tell of pull requests: the words of each become one fact of ours, or nothing."""

from copy import deepcopy
from datetime import UTC, datetime

import pytest

from tocsin_contracts import ForgeEventKind, ForgeKind
from tocsin_ingest.forge_hooks import HOOKS
from tocsin_ingest.ports import BadPayloadError, Delivery

AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
REPO = "shop/platform-gitops"
BRANCH = "tocsin/payments-api-memory-0123456789"
HUB_URL = f"https://github.example/{REPO}/pull/7"
TEA_URL = f"https://gitea.example/{REPO}/pulls/7"
LAB_URL = f"https://gitlab.example/{REPO}/-/merge_requests/7"
MERGE = "3" * 40

HUB = {
    "repository": {"id": 1, "full_name": REPO, "private": True},
    "sender": {"id": 11, "login": "ana", "type": "User"},
}
LAB = {
    "project": {"id": 1, "path_with_namespace": REPO},
    "user": {"id": 11, "username": "ana", "name": "Ana", "email": "[REDACTED]"},
}


def pull(url, **changes):
    head = {"ref": BRANCH, "label": f"shop:{BRANCH}", "repo": {"id": 1, "full_name": REPO}}
    return {"number": 7, "html_url": url, "head": head, "merged": False} | changes


def merged(url):
    return pull(url, merged=True, merge_commit_sha=MERGE)


def request(action, **changes):
    attributes = {
        "iid": 7,
        "source_branch": BRANCH,
        "source": {"path_with_namespace": REPO},
        "url": LAB_URL,
        "action": action,
        "merge_commit_sha": None,
        "last_commit": {"id": "4" * 40},
    }
    return LAB | {"object_kind": "merge_request", "object_attributes": attributes | changes}


NOTE = {
    "object_kind": "note",
    "object_attributes": {
        "id": 5,
        "note": "why 256Mi?",
        "noteable_type": "MergeRequest",
        "url": f"{LAB_URL}#note_5",
        "action": "create",
    },
    "merge_request": {
        "iid": 7,
        "source_branch": BRANCH,
        "source": {"path_with_namespace": REPO},
    },
}
HUB_ISSUE = {"number": 7, "html_url": HUB_URL, "pull_request": {"url": "https://api.example/7"}}
TEA_ISSUE = {"number": 7, "html_url": TEA_URL, "pull_request": {"merged": False}}
COMMENT = {"id": 5, "body": "why 256Mi?"}
PUSH = {"ref": f"refs/heads/{BRANCH}", "before": "4" * 40, "after": "5" * 40}


def github(event, **body):
    headers = {"x-github-event": event, "x-github-delivery": "d-1"}
    return ForgeKind.GITHUB, headers, HUB | body


def gitea(event, **body):
    headers = {"x-gitea-event": event, "x-gitea-delivery": "d-1"}
    return ForgeKind.GITEA, headers, HUB | body


def gitlab(body):
    headers = {"x-gitlab-event": "some Hook", "x-gitlab-event-uuid": "d-1"}
    return ForgeKind.GITLAB, headers, body


def told(delivery):
    forge, headers, body = deepcopy(delivery)
    return HOOKS[forge](Delivery(payload=body, headers=headers, received_at=AT))


def lab_push(**changes):
    pushed = PUSH | {"object_kind": "push", "user_id": 11, "user_username": "ana"}
    return gitlab({"project": LAB["project"]} | pushed | changes)


SAID = {
    "github merged": (
        github("pull_request", action="closed", pull_request=merged(HUB_URL)),
        ForgeEventKind.MERGED,
    ),
    "github closed": (
        github("pull_request", action="closed", pull_request=pull(HUB_URL)),
        ForgeEventKind.CLOSED,
    ),
    "github reopened": (
        github("pull_request", action="reopened", pull_request=pull(HUB_URL)),
        ForgeEventKind.REOPENED,
    ),
    "github synchronize": (
        github("pull_request", action="synchronize", pull_request=pull(HUB_URL)),
        ForgeEventKind.PUSHED,
    ),
    "github comment": (
        github("issue_comment", action="created", issue=HUB_ISSUE, comment=COMMENT),
        ForgeEventKind.COMMENTED,
    ),
    "github line comment": (
        github(
            "pull_request_review_comment",
            action="created",
            pull_request=pull(HUB_URL),
            comment=COMMENT,
        ),
        ForgeEventKind.COMMENTED,
    ),
    "github review": (
        github(
            "pull_request_review",
            action="submitted",
            pull_request=pull(HUB_URL),
            review={"id": 5, "body": "why 256Mi?", "state": "commented"},
        ),
        ForgeEventKind.COMMENTED,
    ),
    "gitea merged": (
        gitea("pull_request", action="closed", pull_request=merged(TEA_URL)),
        ForgeEventKind.MERGED,
    ),
    "gitea closed": (
        gitea("pull_request", action="closed", pull_request=pull(TEA_URL)),
        ForgeEventKind.CLOSED,
    ),
    "gitea reopened": (
        gitea("pull_request", action="reopened", pull_request=pull(TEA_URL)),
        ForgeEventKind.REOPENED,
    ),
    "gitea synchronized": (
        gitea("pull_request", action="synchronized", pull_request=pull(TEA_URL)),
        ForgeEventKind.PUSHED,
    ),
    "gitea comment": (
        gitea("issue_comment", action="created", issue=TEA_ISSUE, comment=COMMENT, is_pull=True),
        ForgeEventKind.COMMENTED,
    ),
    "gitea review": (
        gitea(
            "pull_request_rejected",
            action="reviewed",
            pull_request=pull(TEA_URL),
            review={"type": "pull_request_review_rejected", "content": "why 256Mi?"},
        ),
        ForgeEventKind.COMMENTED,
    ),
    "gitlab merged": (gitlab(request("merge", merge_commit_sha=MERGE)), ForgeEventKind.MERGED),
    "gitlab closed": (gitlab(request("close")), ForgeEventKind.CLOSED),
    "gitlab reopened": (gitlab(request("reopen")), ForgeEventKind.REOPENED),
    "gitlab pushed": (gitlab(request("update", oldrev="6" * 40)), ForgeEventKind.PUSHED),
    "gitlab note": (gitlab(LAB | NOTE), ForgeEventKind.COMMENTED),
}

NOTHING = {
    "github ping": github("ping", zen="Speak like a human.", hook_id=1),
    "github opened": github("pull_request", action="opened", pull_request=pull(HUB_URL)),
    "github edited comment": github(
        "issue_comment", action="edited", issue=HUB_ISSUE, comment=COMMENT
    ),
    "github comment on an issue": github(
        "issue_comment", action="created", issue={"number": 3, "html_url": ""}, comment=COMMENT
    ),
    "github approval without words": github(
        "pull_request_review",
        action="submitted",
        pull_request=pull(HUB_URL),
        review={"id": 5, "body": None, "state": "approved"},
    ),
    "github check run": github("check_run", action="completed", check_run={"id": 4}),
    "github deleted branch": github("push", **PUSH | {"after": "0" * 40, "deleted": True}),
    "github tag": github("push", **PUSH | {"ref": "refs/tags/v1"}),
    "gitea label": gitea("pull_request", action="label_updated", pull_request=pull(TEA_URL)),
    "gitea comment on an issue": gitea(
        "issue_comment",
        action="created",
        issue={"number": 3, "html_url": "", "pull_request": None},
        comment=COMMENT,
        is_pull=False,
    ),
    "gitlab opened": gitlab(request("open")),
    "gitlab approved": gitlab(request("approved")),
    "gitlab title edited": gitlab(request("update")),
    "gitlab note of the system": gitlab(
        LAB | NOTE | {"object_attributes": NOTE["object_attributes"] | {"system": True}}
    ),
    "gitlab note on an issue": gitlab(
        LAB | {name: part for name, part in NOTE.items() if name != "merge_request"}
    ),
    "gitlab pipeline": gitlab({"object_kind": "pipeline", "object_attributes": {"id": 1}}),
    "gitlab deleted branch": lab_push(after="0" * 40),
}


@pytest.mark.parametrize(("delivery", "kind"), SAID.values(), ids=SAID)
def test_what_happened_to_a_pull_request_is_told_in_one_form(delivery, kind):
    event = told(delivery)
    assert (event.forge, event.kind) == (delivery[0], kind)
    assert (event.repo, event.number, event.delivery) == (REPO, 7, "d-1")
    assert (event.author.id, event.author.login) == ("11", "ana")
    assert event.url in (HUB_URL, TEA_URL, LAB_URL)
    assert event.head_branch in (BRANCH, ""), "GitHub and Gitea name none beside a plain comment"
    assert event.body == ("why 256Mi?" if kind is ForgeEventKind.COMMENTED else "")
    assert event.merged_commit == (MERGE if kind is ForgeEventKind.MERGED else "")
    assert event.at == AT


@pytest.mark.parametrize("kind", ["User", "Bot"])
def test_that_a_program_commented_is_told(kind):
    sender = {"id": 41898282, "login": "renovate[bot]", "type": kind}
    comment = {"action": "created", "issue": HUB_ISSUE, "comment": COMMENT, "sender": sender}
    assert told(github("issue_comment", **comment)).author.is_bot is (kind == "Bot")


@pytest.mark.parametrize("delivery", [github("push", **PUSH), gitea("push", **PUSH), lab_push()])
def test_a_push_names_its_branch_and_nothing_else(delivery):
    event = told(delivery)
    assert (event.kind, event.head_branch) == (ForgeEventKind.PUSHED, BRANCH)
    assert (event.number, event.url, event.author.login) == (None, "", "ana")


@pytest.mark.parametrize("delivery", NOTHING.values(), ids=NOTHING)
def test_everything_else_says_nothing_to_us(delivery):
    assert told(delivery) is None


def test_a_fast_forward_merge_of_gitlab_names_the_commit_that_is_now_at_the_target():
    assert told(gitlab(request("merge"))).merged_commit == "4" * 40
    squashed = told(gitlab(request("merge", squash_commit_sha="7" * 40)))
    assert squashed.merged_commit == "7" * 40


FORKS = {
    "github": (github, "pull_request"),
    "gitea": (gitea, "pull_request"),
}


@pytest.mark.parametrize(("forge", "event"), FORKS.values(), ids=FORKS)
@pytest.mark.parametrize("fork", [{"full_name": "mallory/platform-gitops"}, None])
def test_a_branch_of_a_fork_is_never_taken_for_ours(forge, event, fork):
    head = {"ref": BRANCH, "repo": fork}
    sent = forge(event, action="closed", pull_request=pull(HUB_URL, head=head))
    assert told(sent).head_branch in (f"mallory:{BRANCH}", f"unknown:{BRANCH}")


@pytest.mark.parametrize("fork", [{"path_with_namespace": "mallory/platform-gitops"}, None])
def test_a_branch_of_a_fork_on_gitlab_is_never_taken_for_ours(fork):
    event = told(gitlab(request("close", source=fork)))
    assert event.head_branch in (f"mallory:{BRANCH}", f"unknown:{BRANCH}")


@pytest.mark.parametrize(("delivery", "kind"), SAID.values(), ids=SAID)
def test_p5_the_same_delivery_is_the_same_event_and_another_one_is_not(delivery, kind):
    del kind
    forge, headers, body = delivery
    name = next(name for name, value in headers.items() if value == "d-1")
    other = (forge, headers | {name: "d-2"}, body)
    assert told(delivery).id == told(delivery).id != told(other).id


def test_hooks_of_gitlab_that_share_an_id_are_told_apart_by_what_they_are_about():
    deliveries = (gitlab(request("close")), gitlab(LAB | NOTE), gitlab(request("close", iid=8)))
    assert len({told(delivery).id for delivery in deliveries}) == 3


def test_a_retry_of_gitlab_is_known_by_the_key_that_it_keeps():
    forge, headers, body = gitlab(request("close"))
    retries = [(forge, headers | {"idempotency-key": "k", "x-gitlab-event-uuid": u}, body)
               for u in ("a", "b")]  # fmt: skip
    first, second = map(told, retries)
    assert first.id == second.id


def test_what_happens_to_one_pull_request_belongs_to_one_made_up_run():
    deliveries = [SAID[name][0] for name in ("github merged", "github comment", "github review")]
    (run_id,) = {told(delivery).run_id for delivery in deliveries}
    assert run_id.startswith("f")


@pytest.mark.parametrize(
    ("delivery", "missing"),
    [
        (github("pull_request", action="closed"), "pull_request"),
        (github("pull_request", action="closed", pull_request={"number": 7}), "pull_request.head"),
        (github("push", ref="refs/heads/main"), "after"),
        (gitea("issue_comment", action="created", comment=COMMENT), "issue"),
        (gitlab(request("merge") | {"user": {"username": "ana"}}), "user.id"),
        (gitlab({"object_kind": "push", "project": LAB["project"]}), "user_id"),
        ((ForgeKind.GITHUB, {"x-github-event": "push"}, HUB | PUSH), "x-github-delivery"),
        ((ForgeKind.GITHUB, {"x-github-delivery": "d"}, HUB | PUSH), "x-github-event"),
        ((ForgeKind.GITEA, {"x-gitea-event": "push"}, HUB | PUSH), "x-gitea-delivery"),
        ((ForgeKind.GITLAB, {}, request("merge")), "x-gitlab-event-uuid"),
    ],
)
def test_what_is_missing_is_named(delivery, missing):
    with pytest.raises(BadPayloadError, match=missing):
        told(delivery)


@pytest.mark.parametrize("payload", [None, [], "text", 7, {"action": {"a": 1}}])
@pytest.mark.parametrize("forge", [ForgeKind.GITHUB, ForgeKind.GITEA])
def test_a_push_of_any_other_shape_is_a_named_fault(forge, payload):
    headers = {f"x-{forge}-event": "push", f"x-{forge}-delivery": "d"}
    delivery = Delivery(payload=payload, headers=headers, received_at=AT)
    with pytest.raises(BadPayloadError, match=f"not a webhook of {forge}"):
        HOOKS[forge](delivery)


@pytest.mark.parametrize("payload", [None, [], "text", 7, {"object_kind": {"a": 1}}])
def test_a_body_of_gitlab_that_does_not_say_what_it_is_says_nothing(payload):
    headers = {"x-gitlab-event-uuid": "d"}
    delivery = Delivery(payload=payload, headers=headers, received_at=AT)
    assert HOOKS[ForgeKind.GITLAB](delivery) is None


def test_a_comment_is_cleaned_masked_and_cut():
    hidden = "ok\u202e\x1b[31m ghp_" + "a" * 36 + " " + "word " * 4000
    event = told(
        github("issue_comment", action="created", issue=HUB_ISSUE, comment={"body": hidden})
    )
    assert event.body.startswith("ok [redacted] word")
    assert len(event.body) <= 4000
    assert "\x1b" not in event.body


def test_a_link_that_nobody_should_follow_and_names_that_no_forge_gives_are_not_kept():
    strange = pull("javascript:alert(1)")
    assert told(github("pull_request", action="closed", pull_request=strange)).url == ""
    for name in ("x" * 300, "two\nlines"):
        body = HUB | {"repository": {"full_name": name}, "action": "closed"}
        forge, headers, _ = github("pull_request")
        with pytest.raises(BadPayloadError, match="repository"):
            told((forge, headers, body | {"pull_request": pull(HUB_URL)}))
