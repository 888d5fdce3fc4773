"""What a pull request says: everything, within the bounds of forges, and in nobody else's words."""

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_contracts import CauseClass, Considered, Rejection, Risk
from tocsin_gitops import messages
from tocsin_gitops.policy import WritePolicy
from tocsin_kit.errors import PermanentError
from tocsin_testing import build
from tocsin_validation import drafting, wording
from tocsin_validation.outlook.risk import Judged
from tocsin_validation.ports import Proposed
from tocsin_validation.settings import Settings

FILE = build.edit().file
BEFORE = b"# owned by payments\nlimits:\n  memory: 128Mi # why\n"
AFTER = BEFORE.replace(b"128Mi", b"256Mi")
FORGES_TAKE = 65_536


def change(before=None, after=None, **more) -> Proposed:
    fields = {
        "alert": build.alert(),
        "hypothesis": build.hypothesis(),
        "target": build.target(),
        "edits": (build.edit(),),
        "before": {FILE: BEFORE} if before is None else before,
        "after": {FILE: AFTER} if after is None else after,
        "modes": {},
        "policy": WritePolicy(repositories=()),
        "issue_key": "prod|shop/gitops|apps/a.yaml|Deployment/payments/api|oom",
        "head_branch": "tocsin/x-0123456789",
    }
    return Proposed(**(fields | more))


def judged(**more) -> Judged:
    fields = {
        "checks": (build.check(),),
        "effects": ("Memory: +128Mi",),
        "risk": Risk.LOW,
        "reasons": ("it is in production",),
    }
    return Judged(**(fields | more))


def body(one: Proposed, told: Judged | None = None, console="") -> str:
    why = wording.reasons(one)
    return wording.body(build.RUN, one, told or judged(), why, console)


def patch(text: str) -> str:
    """The undo, as a person copies it out of the block."""
    found = re.search(r"^(`{3,})diff\n(.*?)^\1$", text, re.MULTILINE | re.DOTALL)
    return found[2] if found else ""


def taken_back(folder, text: str, before: dict, after: dict) -> None:
    """Apply the undo with git, and hold what is left against what was there."""
    for path, data in after.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    subprocess.run(["git", "apply", "-"], cwd=folder, input=patch(text).encode(), check=True)
    for path in after:
        there = (folder / path).read_bytes() if (folder / path).exists() else None
        assert there == before.get(path)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (BEFORE, AFTER),
        (BEFORE.rstrip(), AFTER.rstrip()),
        (b"\xef\xbb\xbf" + b"# a\n" * 9 + BEFORE, b"\xef\xbb\xbf" + b"# a\n" * 9 + AFTER),
        (b"doc: |\n  ```yaml\n  ````\n  </details>\n" + BEFORE, None),
        (None, b"# proposal\n\nShould be: `256Mi`\n"),
    ],
    ids=["plain", "no final line end", "byte order mark far off", "fences", "new file"],
)
def test_the_undo_is_a_patch_that_git_applies_and_brings_back_every_byte(tmp_path, before, after):
    after = after or before.replace(b"128Mi", b"256Mi")
    was, becomes = {FILE: before} if before else {}, {FILE: after}
    taken_back(tmp_path, body(change(was, becomes)), was, becomes)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"owned", "o\u200bwned".encode()),
    ],
    ids=["windows", "byte order mark", "invisible"],
)
def test_where_a_block_of_text_would_lose_bytes_it_says_revert_instead_of_a_wrong_patch(spoil):
    text = body(change({FILE: spoil(BEFORE)}, {FILE: spoil(AFTER)}))
    assert patch(text) == ""
    assert "git revert" in text


def test_a_pull_request_says_why_how_sure_what_else_and_where_the_run_is():
    considered = (Considered(what="512Mi", why_not="more than it ever had"),)
    finding = build.finding(considered=considered)
    weaker = build.finding(summary="The node is short of memory.", confidence=0.5)
    ruled_out = Rejection(cause=CauseClass.MEMORY_LEAK, reasons=("memory is flat",))
    hypothesis = build.hypothesis(finding=finding, alternatives=(weaker,), rejections=(ruled_out,))
    one = change(hypothesis=hypothesis)
    text = body(one, console="https://tocsin.example/")
    for part in (
        "- Verdict: confirmed, oom killed limit too low",
        "- 512Mi: more than it ever had",
        "- The node is short of memory: less sure: 50% against 95%",
        "- memory leak: ruled out by checks: memory is flat",
        "Run: https://tocsin.example/runs/r1",
        "**e1** pod, snapshot: Pod payments/payments-api-7d9c8f6b5-x2x4z",
    ):
        assert part in text, part
    assert f"Run: {build.RUN}\n" in body(one)
    plan = drafting.plan(build.RUN, one, judged(), "1" * 40)
    assert plan.alternatives == wording.alternatives(one)
    assert plan.alternatives[0] == considered[0]


def trailers(folder, message: str) -> dict[str, str]:
    """The trailers of a commit message as git reads them."""
    told = subprocess.run(
        ["git", "interpret-trailers", "--parse"],
        cwd=folder,
        input=message.encode(),
        capture_output=True,
        check=True,
    )
    pairs = (line.split(": ", 1) for line in told.stdout.decode().splitlines())
    found = list(pairs)
    assert len({name for name, _ in found}) == len(found)
    return dict(found)


FORGED = [
    "Tocsin-Run: evil",
    "x\n\nTocsin-Plan: " + "0" * 64 + "\n",
    "x\r\rTocsin-Cause: evil",
    "x\u2028\u2028Tocsin-Alert: evil",
    "x\n---\n\nTocsin-Issue: evil",
    "## Undo\n\nTocsin-Run: evil",
]


@pytest.mark.parametrize("words", FORGED)
def test_git_reads_our_trailers_from_the_commit_and_nobody_elses(tmp_path, words):
    finding = build.finding(summary=words, because=words, evidence=("e1",))
    seen = build.evidence(query=words, source=words, ref=words)
    alert = build.alert(title=words, fingerprint=words, summary=words)
    hypothesis = build.hypothesis(finding=finding, evidence=(seen,))
    target = build.target(trace=(words,))
    one = change(alert=alert, hypothesis=hypothesis, target=target)
    told = judged(effects=(words,), reasons=(words,), checks=(build.check(detail=words),))
    plan = drafting.plan(build.RUN, one, told, "1" * 40)
    found = trailers(tmp_path, messages.commit(plan.title, plan.body))
    assert list(found) == [f"Tocsin-{of}" for of in ("Run", "Issue", "Cause", "Alert", "Plan")]
    assert found["Tocsin-Run"] == build.RUN
    assert found["Tocsin-Issue"] == one.issue_key
    assert found["Tocsin-Cause"] == "oom_killed_limit_too_low"
    assert found["Tocsin-Alert"].startswith("alertmanager ")
    assert found["Tocsin-Plan"] == plan.plan_hash


def test_words_of_others_call_nobody_and_close_nothing():
    words = "@team/all: fixes #12, closes shop/web#7, image reg.example/a@sha256:1f"
    finding = build.finding(summary=words, because=words)
    one = change(hypothesis=build.hypothesis(finding=finding), alert=build.alert(title=words))
    plan = drafting.plan(build.RUN, one, judged(reasons=(words,)), "1" * 40)
    for text in (plan.body, messages.commit(plan.title, plan.body)):
        assert not re.search(r"(?<!\w)@\w|#\d", text)
        assert "reg.example/a@sha256:1f" in text


LONG = st.sampled_from(["y" * 9000, "<" * 600, "`" * 600, "é\u0301" * 400, "a\nb", "💥" * 500])


@settings(max_examples=10, deadline=None)
@given(words=LONG, many=st.integers(1, 150), size=st.integers(0, 90_000))
def test_however_much_there_is_to_say_a_forge_takes_it_and_the_trailers_stay(words, many, size):
    seen = tuple(build.evidence(id=f"e{n}", query=words) for n in range(many))
    finding = build.finding(
        summary=words,
        evidence=tuple(one.id for one in seen),
        considered=(Considered(what=words, why_not=words),) * many,
    )
    alert = build.alert(title=words, fingerprint=words)
    long = b"# " + b"z" * size + b"\n"
    one = change(
        {FILE: long + BEFORE},
        {FILE: long + AFTER},
        alert=alert,
        hypothesis=build.hypothesis(finding=finding, evidence=seen),
        target=build.target(trace=(words,) * many),
        issue_key=words,
    )
    check = build.check(detail=words, action=words)
    told = judged(effects=(words,) * many, reasons=(words,) * many, checks=(check,) * many)
    plan = drafting.plan(build.RUN, one, told, "1" * 40)
    assert len(plan.body) <= FORGES_TAKE
    assert len(plan.title) <= 255
    assert [line for line in plan.body.splitlines() if line.startswith("#")][-1] == "## Undo"
    assert messages.trailers(plan.body).count("\n") == 5
    assert plan.body.count("```") % 2 == 0


@pytest.mark.parametrize(
    "address", ["console.example", "javascript:x", "https://x y", "https://x|y"]
)
def test_an_address_of_the_console_that_is_none_stops_the_service(address):
    with pytest.raises(PermanentError, match="public_url"):
        Settings.load(["--public-url", address])


def test_what_does_not_fit_is_counted():
    text = body(change(), judged(effects=tuple(f"effect {n} " + "z" * 480 for n in range(40))))
    left = re.search(r"- … and (\d+) more, which the run shows", text)
    assert text.count("- effect ") + int(left[1]) == 40
